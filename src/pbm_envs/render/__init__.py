"""Pictures. What is drawn comes from a view, so it shows what that player may see."""
