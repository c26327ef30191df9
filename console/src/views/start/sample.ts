import type { IngestItem, Orgmem } from "orgmem";

/** A note of the sample: how many days ago it was written, and by whom. */
type Note = [title: string, daysAgo: number, author: string, content: string];

const mark = "fernhill"; // metadata.sample of every note
const prefix = "orgmem-sample/"; // external ids are fixed, so that the sample is known again after a reload
const atOnce = 4; // requests under way while it is removed

const written = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" });

/** Fernhill Cycles does not exist. Dates lie around today, so that there is something to come as well. */
function notes(today: Date): Note[] {
  const day = (from: number): string => written.format(new Date(today.getTime() + from * 86_400_000));
  return [
    ["Who we are", 210, "Mara Lindqvist", "Fernhill Cycles repairs and rents out cargo bikes. We are six people: Mara Lindqvist runs the company, Tom Okafor leads the workshop, Ines Duarte sells, Priya Nair keeps the books, Jonas Weber is our apprentice and Sam Abara drives the van."],
    ["Opening hours", 200, "Ines Duarte", "The shop opens at 9 on Saturdays and closes at 16. On weekdays the shop opens at 8."],
    ["Opening hours from this season on", 34, "Ines Duarte", "The shop opens at 10 on Saturdays and closes at 16. On weekdays nothing changes."],
    ["Rent", 190, "Priya Nair", "The rent for the workshop in Mill Lane is 1,850 euros a month. The landlord is Harbour Estates, and the contact there is Lena Vogt."],
    ["Letter from Harbour Estates", 41, "Priya Nair", "The rent for the workshop in Mill Lane is 1,980 euros a month. Lena Vogt wrote that this holds from the first of next month on."],
    ["Tool orders", 160, "Tom Okafor", "Tom is responsible for ordering tools and wear parts. Orders go to Velo Nord every second Tuesday."],
    ["Tool orders, handed over", 27, "Mara Lindqvist", "Jonas is responsible for ordering tools and wear parts now. Tom only signs what costs more than 400 euros."],
    ["Greenleaf Couriers", 150, "Ines Duarte", "Greenleaf Couriers rent 14 cargo bikes from us. Their fleet manager is Aidan Walsh. They want every bike serviced within 24 hours."],
    ["Call with Aidan Walsh", 19, "Ines Duarte", "Aidan Walsh of Greenleaf Couriers complained about squeaking brakes on four bikes. He likes that Sam picks the bikes up at night. They rent 12 cargo bikes from us."],
    ["Brakes of the L2", 17, "Tom Okafor", "The squeaking on the L2 comes from the resin pads. With sintered pads from Velo Nord it is gone. We change them on all bikes of Greenleaf Couriers."],
    ["Velo Nord", 140, "Tom Okafor", "Velo Nord is our supplier for brakes and chains. Birgit Hansen takes our orders. They deliver on Thursdays, and orders have to be in by Tuesday noon."],
    ["Delivery is late", 8, "Jonas Weber", `Birgit Hansen of Velo Nord called: the sintered pads come on ${day(6)} and not this Thursday.`],
    ["The new repair stand", 24, "Tom Okafor", `The new repair stand from Steelhand is delivered on ${day(9)}. It needs a 16 A socket, which the electrician has to put in before.`],
    ["Electrician", 12, "Mara Lindqvist", `The electrician, Paul Reyes, comes on ${day(5)} at 9 and puts in the socket for the repair stand. Somebody has to be in the workshop.`],
    ["Insurance", 90, "Priya Nair", `The insurance of the rental fleet is with Northgate Mutual, number NM-20418. It ends on ${day(33)} and has to be renewed two weeks before.`],
    ["Claim in September", 72, "Priya Nair", "Northgate Mutual paid 620 euros for the stolen battery. They ask for a photo of the lock each time. The claim took 31 days."],
    ["Battery storage", 120, "Tom Okafor", "Batteries are kept in the steel cabinet at 15 degrees and 60 percent charge. Never charge a battery overnight when nobody is there."],
    ["Battery recall", 15, "Tom Okafor", `Voltaro recalls batteries of the series V7. We have five of them, on the bikes 3, 8, 11, 12 and 20. They go back to Voltaro by ${day(16)}.`],
    ["Apprenticeship", 180, "Mara Lindqvist", `Jonas Weber is in his second year. On Wednesdays he is at the vocational school. His exam is on ${day(47)}.`],
    ["What Jonas wants to learn", 55, "Jonas Weber", "I want to learn how to true wheels and how to read the error codes of the Voltaro drive. I prefer working on drives to working on frames."],
    ["Price list", 130, "Ines Duarte", "A cargo bike costs 19 euros a day or 89 euros a week. Couriers with more than ten bikes pay 240 euros a month for each."],
    ["Discount for schools", 48, "Ines Duarte", "Hillside School wants to rent three bikes for a project week. I will offer them 20 percent off and free helmets."],
    ["Hillside School said yes", 10, "Ines Duarte", `Hillside School rents three bikes from ${day(12)} to ${day(16)}. The teacher is Noor Haddad. Sam brings the bikes at 7:30.`],
    ["The van", 110, "Sam Abara", `The van needs a new inspection sticker by ${day(21)}. The garage at the ring road has time on Fridays.`],
    ["Keys", 100, "Mara Lindqvist", "Tom, Sam and I have keys of the workshop. The spare key is with Lena Vogt. Whoever leaves last arms the alarm."],
    ["Team meeting", 20, "Mara Lindqvist", `We meet every Monday at 8:15. Decided: the workshop gets a second stand, Jonas takes over the orders, and the website is made anew by ${day(60)}. Open: who writes the texts for the website?`],
    ["Team meeting, a week later", 13, "Mara Lindqvist", "Decided: Ines writes the texts for the website. Priya asks Northgate Mutual for an offer for 30 bikes. Tom thinks that we should stop renting out the L1."],
    ["Why the L1 should go", 11, "Tom Okafor", "The L1 breaks at the weld under the box. We have mended it seven times this year. I believe that each repair costs more than a month of rent brings."],
    ["Rückruf der Akkus", 9, "Jonas Weber", "Die Akkus der Serie V7 liegen verpackt im Stahlschrank. Sam bringt sie am Montag zur Post. Rad 20 steht noch beim Kunden."],
    ["Coffee", 65, "Sam Abara", "Please buy the dark roast from Arna again. Nobody drinks the other one."],
  ];
}

/** The sample as items of an ingestion. */
export function sample(today: Date): IngestItem[] {
  return notes(today).map(([title, daysAgo, author, content], i) => ({
    externalId: prefix + String(i + 1).padStart(2, "0"),
    title,
    content,
    occurredAt: new Date(today.getTime() - daysAgo * 86_400_000).toISOString(),
    metadata: { sample: mark, author },
  }));
}

/** What the sample answers well. */
export const sampleQuestions: readonly string[] = ["Who orders the tools?", "Why do the brakes squeak?", "When does the shop open on Saturdays?", "What has to be done about the batteries?"];

/** Whether notes of the sample are in the memory. */
export async function hasSample(client: Orgmem, signal: AbortSignal): Promise<boolean> {
  const found = await client.search("Fernhill Cycles", { topK: 1, filters: { metadata: { sample: mark } }, signal });
  return found.results.length > 0;
}

/**
 * Forgets the notes of the sample and nothing else: those that its external ids mean,
 * and what stands in a former place of one. Gives how many were forgotten.
 */
export async function removeSample(client: Orgmem, tell: (done: number, of: number) => void): Promise<number> {
  const ids = sample(new Date()).map((item) => item.externalId!);
  const left = [...ids];
  let [done, gone] = [0, 0];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let id = left.pop(); id; id = left.pop()) {
        for (const node of (await client.list({ externalId: id, pageSize: 5 }).page()).data) {
          // A text that somebody has sent under an id of their own as well is theirs.
          if (node.source.externalIds.some((other) => !other.startsWith(prefix))) continue;
          await client.delete(node.id);
          gone++;
        }
        tell(++done, ids.length);
      }
    }),
  );
  return gone;
}
