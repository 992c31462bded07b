"""The APIs of the games: PettingZoo, Gymnasium, games of one learner against policies, and transcripts."""
