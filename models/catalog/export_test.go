package catalog

import "lottery/models"

// Leaders is how many numbers a game keeps as leaders between its marks, of one tod or (0) all.
func (g *Game) Leaders(tod models.Tod) int { return len(g.leaders[tod].list) }
