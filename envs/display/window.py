"""A window that shows the pictures of a game, for ``render_mode="human"``. It needs a display, tkinter and pylunasvg.

tkinter is part of Python, although some Linux distributions install it separately.
"""

import importlib.util
import os
import sys
from typing import Any

from fivedice.envs.display.drawing import Drawing


def can_open() -> bool:
    """Whether this process can open a window: it has a display, and both tkinter and pylunasvg are installed."""
    has_display = sys.platform in ("win32", "darwin") or "DISPLAY" in os.environ
    return has_display and all(importlib.util.find_spec(name) is not None for name in ("tkinter", "pylunasvg"))


class Window:
    """A window, which opens with the first picture. A copied or pickled window is another one, which is not open.

    Once the user has closed the window, it shows nothing more.

    Args:
        title: what its frame says.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._root: Any = None
        self._label: Any = None
        self._is_closed = False

    def __reduce__(self) -> tuple[type["Window"], tuple[str]]:
        return Window, (self.title,)

    def show(self, drawing: Drawing) -> bool:
        """Show a drawing, and return at once.

        Returns:
            False if there turned out to be no usable display; the caller then prints text.
        """
        import tkinter

        if self._is_closed:
            return True
        try:
            if self._root is None:
                self._root = tkinter.Tk()
                self._root.title(self.title)
                self._root.protocol("WM_DELETE_WINDOW", self.close)
                self._label = tkinter.Label(self._root, borderwidth=0)
                self._label.pack()
            pixels = drawing.pixels()
            height, width = pixels.shape[:2]
            picture = tkinter.PhotoImage(
                master=self._root, data=f"P6 {width} {height} 255\n".encode() + pixels.tobytes(), format="PPM"
            )
            self._label.configure(image=picture)
            self._label.picture = picture  # tkinter itself keeps no reference to it
            self._root.update()
        except tkinter.TclError:
            self.close()
            return False
        return True

    def close(self) -> None:
        """Close the window, if it is open."""
        self._is_closed = True
        root, self._root = self._root, None
        if root is not None:
            root.destroy()
