package typing

// Heads are the words by which the rules tell without a reader what a name names, by type: those that stand at its end,
// or before "of" and its like.
var Heads = [Types]string{
	organization: `inc inc. corp corp. ltd ltd. llc gmbh ag plc university college institute institution company committee
		party bank association foundation ministry department council agency club team union commission society school
		academy church orchestra laboratory laboratories lab labs press records studios federation league board parliament
		senate congress assembly court army navy police group holdings partners consortium alliance organization organisation
		authority bureau office center centre administration government front movement coalition corporation cooperative
		hospital museum library faculty division fc band quartet ensemble airlines airways motors pictures entertainment
		network networks broadcasting bros bros.`,
	product: `journal magazine newspaper review times edition album phone server engine framework api sdk app os`,
	place: `river lake mountain mount mountains street avenue road park city county island islands bay valley bridge
		airport square province republic kingdom ocean sea desert peninsula territory district village town region state
		states canal coast harbor harbour station stadium castle palace cathedral hills forest gulf strait beach boulevard
		plaza`,
	project: `project initiative programme program operation mission campaign`,
	event: `conference festival cup championship championships olympics award awards prize medal war battle summit
		symposium workshop games tournament revolution referendum election elections expo hackathon ceremony marathon primary
		primaries bowl open earthquake uprising treaty wars prizes meetup`,
}
