package main

import (
	"math"

	"orgmem/brain/embed"
)

// The sample over which a model's range of cosines is measured: one conversation,
// so that its turns are as near to each other and to the questions as those of a
// real memory, and questions about it. It must not change, or models that were
// packed before and after would not compare.
var (
	sampleTurns = []string{
		"Hey Priya, long time no see! How did the move to the new flat go?",
		"It was exhausting, but we are finally in. The kitchen is tiny, though the balcony makes up for it.",
		"That sounds lovely. Did you keep the old sofa in the end?",
		"No, we gave it to my cousin Ravi. He just started college and had nothing to sit on.",
		"Good for him. What is he studying?",
		"Marine biology. He wants to work with sea turtles one day.",
		"My sister volunteers at an aquarium, maybe they could meet.",
		"He would love that! By the way, I signed up for a pottery class on Wednesdays.",
		"Really? I thought you were still doing the climbing.",
		"I hurt my wrist in March, so the doctor told me to take half a year off.",
		"Ouch, I am sorry. Is it getting better?",
		"Slowly. The physiotherapist is happy, and I can type again without pain.",
		"At work we switched to a four-day week. Fridays are for my garden now.",
		"I am so jealous. What are you growing this year?",
		"Tomatoes, beans, and three kinds of chilli. The slugs ate all of the lettuce.",
		"My grandmother put beer traps out for them. It works surprisingly well.",
		"I will try that. Are you coming to Lisbon with us in September?",
		"I booked the train yesterday. Omar is joining too, he got the week off.",
		"Perfect. Then we need a bigger apartment, I will look for one near the river.",
		"Can we stay under ninety euros a night? The deposit for the flat was a lot.",
		"Sure. I found one with two bedrooms and a view of the bridge for eighty-four.",
		"Book it! I will send you my share tonight.",
		"Done. And do not forget your guitar, I want to hear the new song.",
		"It is not finished, the chorus still sounds like an advert for toothpaste.",
	}
	sampleQuestions = []string{
		"What did Priya do with her old sofa?",
		"What does Ravi study?",
		"Which animals does Ravi want to work with?",
		"Why did Priya stop climbing?",
		"On which day is the pottery class?",
		"How many days a week does Priya's friend work?",
		"What is growing in the garden?",
		"How can you get rid of slugs?",
		"Where are they travelling in September?",
		"Who got the week off?",
		"How much does the apartment cost per night?",
		"Which instrument does Priya play?",
		"When did Priya hurt her wrist?",
		"Who volunteers at an aquarium?",
		"What is wrong with the new song?",
		"How does Priya get to Lisbon?",
	}
)

// cosines are the mean and the standard deviation of the cosines of all questions
// with all turns.
func cosines(m *embed.Model) (mean, spread float64) {
	encoder := m.NewEncoder()
	turns := make([][]float32, len(sampleTurns))
	encoder.Passages(turns, sampleTurns)
	sum, squares, n := 0.0, 0.0, 0.0
	for _, question := range sampleQuestions {
		q := encoder.Query(question)
		for _, turn := range turns {
			c := 0.0 // vectors have length 1
			for i, x := range q {
				c += float64(x) * float64(turn[i])
			}
			sum, squares, n = sum+c, squares+c*c, n+1
		}
	}
	mean = sum / n
	return mean, math.Sqrt(max(0, squares/n-mean*mean))
}
