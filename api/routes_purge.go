package api

var purgeRoutes = []Route{}
