// Three nodes of one cluster on loopback, from the built binary.
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import path from "node:path";
import { command, serve, temporary, type Serving } from "./service";

export interface Node {
  name: string;
  serving: Serving;
}

export interface TestCluster {
  nodes: Node[];
  /** Ends one node's process, and starts it again. */
  stop(node: Node): Promise<void>;
  restart(node: Node): Promise<void>;
  end(): Promise<void>;
}

/** A port that nobody listens on. The other nodes are told of it, so it must be known before the node starts. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Starts a node for each name; the first one has begun the cluster, of so many shards. */
export async function startCluster(names: readonly string[], shards: number): Promise<TestCluster> {
  const { folder, remove } = await temporary();
  const data = (i: number): string => path.join(folder, `n${i}`);
  const ports = await Promise.all(names.map(freePort));
  const running = new Set<Serving>();
  const start = async (i: number, env: Record<string, string> = {}): Promise<Serving> => {
    const serving = await serve(data(i), ["--node-name", names[i]!, "--cluster-listen", `127.0.0.1:${ports[i]}`, ...(i === 0 ? ["--quickstart"] : [])], env);
    running.add(serving);
    return serving;
  };
  const stop = async (serving: Serving): Promise<void> => {
    if (running.delete(serving)) await serving.stop();
  };
  const end = async (): Promise<void> => {
    await Promise.all([...running].map(stop));
    await remove();
  };
  try {
    await command("cluster", "init", "--data", data(0), "--shards", String(shards));
    const nodes: Node[] = [];
    for (const [i, name] of names.entries()) {
      const first = nodes[0]?.serving.told.operatorUrl;
      const token = first ? (JSON.parse(await command("cluster", "token", "--json", "--data", data(0), "--operator", first)) as { token: string }).token : "";
      nodes.push({ name, serving: await start(i, token ? { ORGMEM_JOIN_TOKEN: token } : {}) });
    }
    return {
      nodes,
      stop: (node) => stop(node.serving),
      restart: async (node) => {
        node.serving = await start(nodes.indexOf(node));
      },
      end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}
