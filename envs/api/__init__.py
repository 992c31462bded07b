"""The games as users meet them: PettingZoo, Gymnasium, a learner among policies, and transcripts."""
