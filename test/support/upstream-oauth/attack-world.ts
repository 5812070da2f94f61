import { createServer } from 'node:net';
import { once } from 'node:events';

import { createGuardedFetch, type GuardedFetch } from '../../../proxy/outbound/guarded-fetch.ts';
import { BrowserJar } from '../browser-jar.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../gateway-with-users.ts';
import { startUpstream } from '../upstream.ts';
import { walkThroughForms } from '../walk-through-forms.ts';
import {
  startScriptedAuthorizationServer,
  type ScriptedAuthorizationServer,
} from './scripted-authorization-server.ts';

/** Name of the upstream, which alone is at the address that the gateway may ask. */
export const ATTACKER = 'mcp.attack.test';
/** An address inside: nothing may ever connect to it. */
export const INSIDE = '127.0.0.2';

/** How an attempt to connect ended for the user, and what the log says about the upstream's hosts. */
interface Attempt {
  /** `connect_error` at the application; null if the user is connected. */
  readonly error: string | null;
  /** `step outcome` of each line about a call, in order. */
  readonly calls: readonly string[];
}

/**
 * A gateway as in production, whose guarded fetch allows no loopback and no http, and an upstream that lies.
 * The only address it may ask is the upstream's.
 */
export interface AttackWorld extends AsyncDisposable {
  readonly users: GatewayWithUsers;
  readonly server: ScriptedAuthorizationServer;
  /** Addresses that the name server gives, by name: each list for one question, the last for all further. */
  readonly addresses: Map<string, readonly (readonly string[])[]>;
  /** How often a name was looked up. */
  readonly lookUps: Map<string, number>;
  /** Connections that were made to the address inside. */
  connectionsInside(): number;
  /** The port at which the upstream and the address inside listen. */
  readonly port: string;
  /** Connects alice to the upstream, as far as it goes. */
  connect(): Promise<Attempt>;
}

/** Starts a world in which nobody attacks yet. */
export async function startAttackWorld(): Promise<AttackWorld> {
  await using opening = new AsyncDisposableStack();
  const server = opening.use(await startScriptedAuthorizationServer(ATTACKER));
  const { port } = new URL(server.origin);
  const connections = await listenInside(port, opening);
  const addresses = new Map([[ATTACKER, [['127.0.0.1']]]]);
  const lookUps = new Map<string, number>();
  const guardedFetch: GuardedFetch = createGuardedFetch({
    devAllowLoopback: false,
    ...(server.ca !== undefined && { ca: server.ca }),
    lookup: (name) => {
      const asked = (lookUps.get(name) ?? 0) + 1;
      lookUps.set(name, asked);
      const answers = addresses.get(name) ?? [];
      const answer = answers[asked - 1] ?? answers.at(-1) ?? [];
      return Promise.resolve(answer.map((address) => ({ address, family: 4 })));
    },
  });
  const users = opening.use(await startGatewayWithUsers({ guardedFetch }));
  const application = opening.use(await startUpstream((_message, response) => response.end()));
  const [url, app] = [users.originOf('mcp'), users.originOf('app')];
  const access = { allowAnyAuthenticatedUser: true };
  const mcp = { server: { path: '/mcp', upstreamOauth2: {} } };
  await users.configure(
    {
      mcp: { ...access, from: url, to: server.origin, mcp },
      app: { ...access, from: app, to: application.origin, mcp: { client: {} } },
    },
    {
      // An operator who lists addresses does not open them by that.
      mcpAllowedAsMetadataDomains: ['*.attack.test', '10.0.0.1', '169.254.169.254', INSIDE],
      outboundAllowedCidrs: ['127.0.0.1/32'],
    },
  );
  const opened = opening.move();
  return {
    ...{ users, server, addresses, lookUps, port },
    connectionsInside: () => connections.count,
    async connect() {
      const browser = new BrowserJar();
      const target = encodeURIComponent(`${app}/back`);
      const stopAt = (next: string): boolean => !next.startsWith('http://');
      const start = `${url}/.gateway/mcp/connect?redirect_url=${target}`;
      const loginAt = () => 'alice';
      const asked = await walkThroughForms(browser, start, { loginAt, stopAt });
      const authorize = stopAt(asked.headers.location ?? '') && asked.headers.location;
      const page = await (authorize === false || authorize === undefined
        ? asked
        : browser.follow(asked, grant(authorize, server.origin)));
      return {
        error: new URL(page.url).searchParams.get('connect_error'),
        calls: users.gateway
          .logs()
          .filter(({ message }) => message === 'upstream OAuth call')
          .map(({ step, outcome }) => `${String(step)} ${String(outcome)}`),
      };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Where an authorization server sends the browser whose user granted a request. */
function grant(authorizationUrl: string, issuer: string): string {
  const { searchParams } = new URL(authorizationUrl);
  const callback = new URL(searchParams.get('redirect_uri') ?? '');
  const state = searchParams.get('state') ?? '';
  callback.search = new URLSearchParams({ code: 'the-code', state, iss: issuer }).toString();
  return callback.href;
}

async function listenInside(
  port: string,
  opened: AsyncDisposableStack,
): Promise<{ readonly count: number }> {
  const connections = { count: 0 };
  const trap = createServer((socket) => {
    connections.count += 1;
    socket.destroy();
  });
  trap.listen(Number(port), INSIDE);
  await once(trap, 'listening');
  opened.defer(async () => {
    trap.close();
    await once(trap, 'close');
  });
  return connections;
}
