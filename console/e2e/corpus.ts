// A small memory that has something to show in every view: themes, people, dates, contradictions, a second language,
// something forgotten, edited and superseded, edges, a subject. All of it is made up for this.
import type { NewConnector } from "orgmem";
import type { Service } from "./service";

const notes: readonly [externalId: string, title: string, content: string, occurredAt?: string][] = [
  ["bakery-oven", "The oven", "The deck oven in the bakery was serviced by Marta Lindqvist on 4 March 2026. She replaced the door seal and the thermostat.", "2026-03-05T08:00:00Z"],
  ["bakery-flour", "Flour", "We buy rye flour from the mill in Ystad, four hundred kilos a month, delivered on the first Tuesday."],
  ["bakery-hours", "Opening hours", "The bakery is open from 6:30 to 18:00 on weekdays and from 8:00 to 14:00 on Saturdays."],
  ["bakery-hours-2", "Sign at the door", "The bakery is open from 7:00 to 18:00 on weekdays and from 8:00 to 14:00 on Saturdays."],
  ["bakery-recipe", "Sourdough", "The sourdough rests for eighteen hours at nine degrees. Salt is added after the first hour, never before."],
  ["bakery-allergy", "Allergens", "Walnut bread and plain rye share one table, so plain rye is labelled as possibly containing nuts."],
  ["team-lead", "Who runs the shop", "Our head baker is Jonas Berg. He joined in 2019 and trains the apprentices."],
  ["team-lead-2", "New head baker", "Our head baker is Amira Haddad."],
  ["team-apprentice", "Apprentices", "Two apprentices start on 1 August 2026: Lena Strand in pastry and Tobias Ek in bread."],
  ["team-meeting", "Weekly meeting", "The weekly meeting is on Wednesdays at 15:00 in the back room."],
  ["team-meeting-2", "Calendar", "The weekly meeting is on Thursdays at 15:00 in the back room."],
  ["team-holiday", "Closing", "We close for the summer from 6 July to 26 July 2026. Regular customers get a note two weeks before."],
  ["team-preference", "Shifts", "Amira prefers early shifts and does not want to work on Sundays."],
  ["orders-cafe", "Café Norr", "Café Norr orders sixty cinnamon buns every Friday and pays within thirty days."],
  ["orders-hotel", "Hotel Skagen", "Hotel Skagen wants gluten-free rolls from September on, forty a day. The contract is signed by Peter Holm."],
  ["orders-school", "The school", "The primary school takes two hundred rolls on Mondays, Wednesdays and Fridays during term."],
  ["orders-price", "Price list", "A rye loaf costs 5,20 euros from January 2026. Wholesale customers pay 3,90 euros."],
  ["orders-complaint", "A complaint", "Hotel Skagen complained on 12 May 2026 that the delivery came forty minutes late. Jonas apologised by phone."],
  ["van-service", "The van", "The delivery van needs its inspection before the end of October 2026. The garage is Bil & Motor in Tomelilla."],
  ["van-route", "Route", "The delivery route starts at the school, then Café Norr, then the hotel. It takes an hour and ten minutes."],
  ["van-fuel", "Fuel", "The van uses about nine litres on a hundred kilometres, a little more in winter."],
  ["it-till", "The till", "The till's software is updated on the first Sunday of the month, after closing. The password is with Amira."],
  ["it-website", "Web site", "The web site takes orders until 18:00 for the next morning. The limit is 50 loaves an order."],
  ["it-website-2", "Order limit", "The limit is 80 loaves an order on the web site."],
  ["it-backup", "Backups", "Backups of the order book run every night at two and are kept for ninety days."],
  ["de-ofen", "Ofenwartung", "Der Steinofen wird im März und im September gewartet. Zuständig ist Frau Lindqvist aus Malmö."],
  ["de-mehl", "Mehlbestellung", "Das Roggenmehl kommt aus der Mühle in Ystad; bestellt wird spätestens am Freitag."],
  ["de-urlaub", "Betriebsferien", "Die Betriebsferien dauern vom 6. bis zum 26. Juli 2026, danach öffnen wir wieder um halb sieben."],
  ["ar-order", "طلب", "يطلب المقهى ستين كعكة بالقرفة كل يوم جمعة ويدفع خلال ثلاثين يوما."],
  // Two who are told of together, in texts that are like no others: what proposals are made of.
  ["pair-passport", "Passport", "Noor Visser renewed her passport in Utrecht together with Emil Sorensen."],
  ["pair-chess", "Chess", "Emil Sorensen lost three games of chess against Noor Visser."],
  ["pair-vaccine", "Vaccine", "The nurse vaccinated Emil Sorensen against the flu, then Noor Visser."],
  ["pair-cello", "Cello", "Paolo Ricci sold his cello to Dana Novak for nine hundred euros."],
  ["pair-marathon", "Marathon", "Dana Novak ran the marathon of Vienna, and Paolo Ricci held the drinks."],
  ["pair-lawsuit", "Lawsuit", "The lawsuit about the hedge was settled between Paolo Ricci and Dana Novak."],
  ["markup", "<b>Not bold</b>", "Someone wrote <script>alert('x')</script> and <img src=x onerror=alert(1)> into the order book."],
];

/** What the corpus made, for views of one thing. */
export interface Corpus {
  node: string;
  superseded: string;
  forgotten: string;
  subject: string;
  webhook: string;
  connector: string;
  job: string;
  domain: string;
}

/** Fills an empty memory, and waits until it has been thought over. */
export async function fill({ memory, receiver }: Service): Promise<Corpus> {
  const job = await memory.add(
    notes.map(([externalId, title, content, occurredAt]) => ({ externalId, title, content, ...(occurredAt ? { occurredAt } : {}) })),
    { wait: true },
  );
  const id = async (externalId: string) => {
    const node = await memory.find(externalId);
    if (!node) throw new Error(`the corpus lacks ${externalId}`);
    return node;
  };
  await memory.subjects.put("ann");
  await memory.subject("ann").add("Ann is allergic to walnuts and collects her order on Saturdays at nine.", { wait: true });
  const oven = await id("bakery-oven");
  const flour = await id("bakery-flour");
  await memory.edges.assert({ source: oven.id, target: flour.id, type: "needs" });
  const route = await id("van-route");
  await memory.update(route.id, { title: "Delivery route" });
  const price = await id("orders-price");
  await memory.supersede(price.id, "A rye loaf costs 5,40 euros from June 2026. Wholesale customers pay 4,00 euros.", "New prices for flour");
  const fuel = await id("van-fuel");
  await memory.delete(fuel.id);
  const webhook = await memory.webhooks.create({ url: receiver.url, eventTypes: ["job.completed"] });
  // The generated type of config is that of no kind: see src/views/trust/connectors.ts.
  const feed = { type: "feed", name: "News of the mill", enabled: false, config: { url: receiver.url } } as unknown as NewConnector;
  const connector = await memory.connectors.create(feed);
  const domain = await derived(memory);
  return { node: oven.id, superseded: price.id, forgotten: fuel.id, subject: "ann", webhook: webhook.id, connector: connector.id, job: job.id, domain };
}

const patience = 150_000; // milliseconds, for a cycle on a busy machine

/** Waits until there is something of everything that a cycle derives, and returns a domain. */
async function derived(memory: Service["memory"]): Promise<string> {
  const until = Date.now() + patience;
  let missing: string[] = [];
  while (Date.now() < until) {
    const [domains, contradictions, proposals, insights, identity, temporal, graph] = await Promise.all([
      memory.domains.list().take(1),
      memory.contradictions.list().take(1),
      memory.proposals.list({ status: "open" }).take(1),
      memory.recall.insightList().take(1),
      memory.recall.identity(),
      memory.recall.eventList().take(1),
      memory.recall.graph(),
    ]);
    const found = { domains, contradictions, proposals, insights, temporal, places: identity.basins, portrait: identity.portrait, graph: graph.nodes };
    missing = Object.entries(found).flatMap(([name, list]) => (list.length ? [] : [name]));
    if (!identity.voiceProfile) missing.push("voice");
    if (!missing.length && domains[0]) return domains[0].id;
    await new Promise((resolve) => setTimeout(resolve, 500)); // between polls, within a bound
  }
  throw new Error(`the memory was not thought over in time: it lacks ${missing.join(", ")}`);
}
