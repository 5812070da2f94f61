import { json as readJson } from 'node:stream/consumers';

import { ClientWithUser } from '../client-with-user.ts';
import {
  startGatewayWithUsers,
  type GatewayWithUsers,
  type RouteSpec,
} from '../gateway-with-users.ts';
import { startUpstream } from '../upstream.ts';
import { CLIENT_IDS } from './exceptions.ts';

/** A client scenario that the suite has started a server for. */
interface Scenario {
  readonly name: string;
  readonly revision: string;
  /** The MCP endpoint of the suite's server. */
  readonly serverUrl: string;
  /** Credentials, if the client is registered by hand. */
  readonly context: { readonly client_id?: string; readonly client_secret?: string };
}

/** The user gives up after this many requests to authorize; scenarios need one or two. */
const PATIENCE = 3;
const LEGACY_REVISION = '2025-11-25';
const TOOL = 'test-tool';

/** Plays the scenarios of the suite as clients of one gateway, with a route for each. */
export interface ClientScenarios extends AsyncDisposable {
  /** Where `client-command.ts` posts its scenario. */
  readonly controller: string;
  /** Why clients did not get what they wanted, by scenario; no other client failed. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Starts a gateway without routes, which plays the scenarios with these names, and refuses all others. */
export async function startClientScenarios(names: readonly string[]): Promise<ClientScenarios> {
  await using opening = new AsyncDisposableStack();
  const users = opening.use(await startGatewayWithUsers());
  const routes = new Routes(users);
  const failures = new Map<string, string>();
  const server = opening.use(
    await startUpstream((message, response) => {
      const play = async (): Promise<void> => {
        // client-command.ts sends a scenario.
        const scenario = (await readJson(message)) as Scenario;
        if (!names.includes(scenario.name)) throw new Error('not played');
        const url = await routes.add(scenario);
        // Each is a client of its own, and not many of one network, which may register 20 a minute.
        const address = `127.0.1.${String(names.indexOf(scenario.name) + 1)}`;
        await callTool(scenario, url, address).catch((error: unknown) => {
          failures.set(scenario.name, String(error));
          throw error;
        });
      };
      play().then(
        () => response.writeHead(200).end(),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    }),
  );
  const opened = opening.move();
  return {
    controller: server.origin,
    failures,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Everything that a user wants of a client: to see the tools, and to call one. */
async function callTool({ revision }: Scenario, url: string, address: string): Promise<void> {
  const mode = revision === LEGACY_REVISION ? 'legacy' : 'auto';
  await using client = new ClientWithUser(url, { mode, patience: PATIENCE, address });
  await client.listTools();
  await client.callTool(TOOL);
}

/** The routes of all scenarios so far, which a running gateway gets one by one. */
class Routes {
  readonly #users: GatewayWithUsers;
  readonly #routes: Record<string, RouteSpec> = {};
  readonly #secrets: { name: string; key: string; value: string }[] = [];
  #configured = Promise.resolve();

  constructor(users: GatewayWithUsers) {
    this.#users = users;
  }

  /** Serves a route to the server of a scenario, and returns its URL. */
  async add({ name, revision, serverUrl, context }: Scenario): Promise<string> {
    const label = `${name.replaceAll(/\W+/g, '-')}-${revision}`.toLowerCase();
    const from = this.#users.originOf(label);
    const { client_id: clientId = CLIENT_IDS[name], client_secret: value } = context;
    if (value !== undefined) this.#secrets.push({ name: label, key: 'secret', value });
    const { origin, pathname: path } = new URL(serverUrl);
    const upstreamOauth2 = {
      ...(clientId !== undefined && { clientId }),
      ...(value !== undefined && { clientSecretRef: { name: label, key: 'secret' } }),
    };
    const server = { path, upstreamOauth2 };
    this.#routes[label] = { from, to: origin, mcp: { server }, allowAnyAuthenticatedUser: true };
    const settings = { mcpAllowedAsMetadataDomains: ['localhost'] };
    this.#configured = this.#configured.then(() =>
      this.#users.configure({ ...this.#routes }, settings, [...this.#secrets]),
    );
    await this.#configured;
    return from;
  }
}
