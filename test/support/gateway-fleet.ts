import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { startMcpServer } from '../../cli/demo/mcp-server/mcp-server.ts';
import { startBalancer, type Balancer } from './balancer.ts';
import { startGatehouse, type GatehouseProcess, type LogRecord } from './cli.ts';
import { freePort } from './free-port.ts';
import { manifestsWithUsers, type RouteSpec, type Settings } from './gateway-with-users.ts';
import { send } from './http-client.ts';
import {
  startIdentityProvider,
  type IdentityProviderOptions,
  type TestIdentityProvider,
} from './identity-provider.ts';
import { startUpstream } from './upstream.ts';

/**
 * Several processes of `gatehouse run` behind a balancer, with the same configuration, the same
 * sealing keys and the same Redis.
 */
export interface GatewayFleet extends AsyncDisposable {
  readonly members: readonly FleetMember[];
  readonly balancer: Balancer;
  readonly identityProvider: TestIdentityProvider;
  /** A route of an MCP server that answers every message with the assertion it received. */
  readonly mcpUrl: string;
  /** A route of an MCP server on the official SDK. */
  readonly sdkUrl: string;
  /** A route for signed-in browsers, to a server that answers as `mcpUrl` does. */
  readonly webUrl: string;
  /** A public route to that server. */
  readonly publicUrl: string;
  readonly sealingKeysDirectory: string;
}

export interface FleetOptions {
  /** Values of `--redis-url`, one for each process. */
  readonly redisUrls: readonly string[];
  readonly settings?: Settings;
  /** Another MCP server behind `mcpUrl`. */
  readonly mcpRoute?: Pick<RouteSpec, 'to' | 'mcp'>;
  readonly identityProvider?: IdentityProviderOptions;
  /** Returns the environment variables of each process, by its number from 0. */
  readonly environment?: (index: number) => Readonly<Record<string, string>>;
  /** Seed of the balancer's random choice. */
  readonly seed?: number;
}

/** Handler of the server behind `mcpUrl`, `webUrl` and `publicUrl`. */
export interface EchoAnswer {
  readonly jsonrpc: '2.0';
  readonly id: unknown;
  readonly result: { readonly assertion: string | null };
}

/** Source address of the balancer, which the gateways trust as a proxy. */
const BALANCER_ADDRESS = '127.0.0.9';

/** Starts a fleet, and everything it needs except Redis. */
export async function startFleet(options: FleetOptions): Promise<GatewayFleet> {
  await using opening = new AsyncDisposableStack();
  const { redisUrls, seed = 1 } = options;
  const port = await freePort();
  const targets = redisUrls.map((_, index) => ({ host: hostOf(index), port }));
  const balancer = opening.use(
    await startBalancer({ port, address: BALANCER_ADDRESS, targets, seed }),
  );
  const originOf = (name: string): string => `http://${name}:${String(port)}`;
  const authenticateUrl = originOf('auth.localhost');
  const identityProvider = opening.use(
    await startIdentityProvider({
      redirectUris: [`${authenticateUrl}/.gateway/callback`],
      ...options.identityProvider,
    }),
  );
  const echo = opening.use(
    await startUpstream((message, response) => void answer(message, response)),
  );
  const sdkUrl = originOf('localhost');
  const sdkServer = await startMcpServer({ port: 0, flag: '--mcp-port', environment: '' }, sdkUrl);
  opening.defer(() => sdkServer.close());

  const urls = {
    mcpUrl: originOf('mcp.localhost'),
    webUrl: originOf('web.localhost'),
    publicUrl: originOf('public.localhost'),
    sdkUrl,
  };
  const users = { allowAnyAuthenticatedUser: true };
  const routes: Record<string, RouteSpec> = {
    mcp: { from: urls.mcpUrl, to: echo.origin, mcp: { server: {} }, ...users, ...options.mcpRoute },
    sdk: { from: sdkUrl, to: sdkServer.origin, mcp: { server: { path: '/mcp' } }, ...users },
    web: { from: urls.webUrl, to: echo.origin, ...users },
    public: { from: urls.publicUrl, to: echo.origin, allowPublicUnauthenticatedAccess: true },
  };
  const settings = {
    authenticateUrl,
    trustedProxies: [`${BALANCER_ADDRESS}/32`],
    ...options.settings,
  };
  const files = await writeFiles(manifestsWithUsers(routes, settings, identityProvider));
  opening.defer(() => rm(files.directory, { recursive: true }));
  const members = redisUrls.map((redisUrl, index) => {
    const argv = [
      ...['run', '--dev-allow-loopback', '--config', files.manifests],
      ...['--sealing-keys-dir', files.sealingKeys, '--redis-url', redisUrl],
      ...['--listen', `${hostOf(index)}:${String(port)}`, '--admin-listen', '127.0.0.1:0'],
    ];
    return new FleetMember(argv, options.environment?.(index));
  });
  for (const member of members) opening.use(member);
  await Promise.all(members.map((member) => member.start()));
  const open = opening.move();
  return {
    ...{ members, balancer, identityProvider, ...urls },
    sealingKeysDirectory: files.sealingKeys,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** One `gatehouse run`, which can be killed and started again. */
export class FleetMember implements AsyncDisposable {
  readonly #argv: readonly string[];
  readonly #environment: Readonly<Record<string, string>>;
  readonly #lives: GatehouseProcess[] = [];

  constructor(argv: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    this.#argv = argv;
    this.#environment = environment;
  }

  /** Resolves when the process listens. */
  async start(): Promise<void> {
    const life = startGatehouse(this.#argv, this.#environment);
    this.#lives.push(life);
    await life.listening();
  }

  /** Kills the process with SIGKILL. */
  async kill(): Promise<void> {
    await this.#lives.at(-1)?.[Symbol.asyncDispose]();
  }

  /** Returns the status of `/readyz`. */
  async readiness(): Promise<number> {
    const listening = await this.#lives.at(-1)?.listening();
    return (await send(`http://${String(listening?.['admin'])}/readyz`)).status;
  }

  /** Returns what `/metrics` says. */
  async metrics(): Promise<string> {
    const listening = await this.#lives.at(-1)?.listening();
    return (await send(`http://${String(listening?.['admin'])}/metrics`)).body;
  }

  /** Everything that the process has logged, also before it was killed. */
  get log(): readonly LogRecord[] {
    return this.#lives.flatMap(({ log }) => log);
  }

  /** Everything else that the process wrote, also before it was killed. */
  get stderr(): string {
    return this.#lives.map(({ stderr }) => stderr).join('');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

/** Address of a process; each has its own, because all listen on the port of the routes' origins. */
function hostOf(index: number): string {
  return `127.0.0.${String(index + 2)}`;
}

async function writeFiles(
  manifests: string,
): Promise<Readonly<Record<'directory' | 'manifests' | 'sealingKeys', string>>> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-fleet-'));
  const files = {
    directory,
    manifests: join(directory, 'gatehouse.yaml'),
    sealingKeys: join(directory, 'sealing-keys'),
  };
  await mkdir(files.sealingKeys);
  await writeFile(join(files.sealingKeys, '2026'), randomBytes(32));
  await writeFile(files.manifests, manifests);
  return files;
}

async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(message);
  const assertion = message.headers['x-gateway-assertion'];
  const echo: EchoAnswer = {
    jsonrpc: '2.0',
    id: body === '' ? null : idOf(JSON.parse(body)),
    result: { assertion: typeof assertion === 'string' ? assertion : null },
  };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(echo));
}

function idOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'id' in message ? message.id : null;
}
