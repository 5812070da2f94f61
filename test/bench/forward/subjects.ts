import { basename, join, resolve } from 'node:path';

import {
  printLeftOut,
  versionOf,
  type NativeProgram,
  type ServerOptions,
} from '../support/native-program.ts';
import { NGINX } from '../support/nginx.ts';
import { SUBJECT_CORE } from '../support/pinned.ts';
import type { BenchWorld, Subject } from './bench-world.ts';
import { HAPROXY, startHaproxy } from './haproxy.ts';
import { startForwardingNginx } from './nginx.ts';
import { combineCheckouts } from './other-checkout.ts';

/** Routes of a gateway that has many. */
const MANY = 10_000;

/** The subjects of a run. Those that are not installed, or not asked for, are undefined. */
export interface Subjects {
  readonly emptyServer: Subject;
  readonly nginx: Subject | undefined;
  readonly haproxy: Subject | undefined;
  readonly httpProxy: Subject;
  /** What the parts that the gateway stands on cost without the gateway. */
  readonly leastRelay: Subject;
  /** The main row: MCP, one route. */
  readonly gateway: Subject;
  /** The same with JWTs of an identity provider in place of external tokens. */
  readonly jwt: Subject;
  /** The gateway of another checkout. */
  readonly other: Subject | undefined;
  readonly web: Subject;
  readonly open: Subject;
  /** The same three with many routes. */
  readonly gatewayMany: Subject;
  readonly webMany: Subject;
  readonly openMany: Subject;
}

/** Starts the gateway of the main row. */
export function startMainGateway(world: BenchWorld): Promise<Subject> {
  return world.startGateway({ name: 'gateway, MCP', workload: 'mcp', routes: 1 });
}

/** Starts the same gateway for clients that keep connections with TLS. */
export async function startTlsGateway(world: BenchWorld): Promise<Subject> {
  const args = ['--tls'];
  const name = 'gateway, MCP, TLS';
  return {
    ...(await world.startGateway({ name, workload: 'mcp', routes: 1, args })),
    isTls: true,
  };
}

/** Starts all subjects besides the main one, and prints which are left out. */
export async function startSubjects(
  world: BenchWorld,
  gateway: Subject,
  otherCheckout: string | undefined,
): Promise<Subjects> {
  const here = import.meta.dirname;
  const many = `${String(MANY)} routes`;
  return {
    emptyServer: await world.startNode('empty node:http', join(here, 'empty-server.ts')),
    nginx: await startInstalled(world, 'nginx, forwarding only', NGINX, async (options) => ({
      ...(await startForwardingNginx(options)),
      tokens: [],
    })),
    haproxy: await startInstalled(world, 'haproxy, ES256 and a rule', HAPROXY, startHaproxy),
    httpProxy: await world.startNode('http-proxy, same caches', join(here, 'http-proxy.ts')),
    leastRelay: await world.startNode('node:http, our client', join(here, 'least-relay.ts')),
    gateway,
    jwt: await world.startGateway({ name: 'gateway, MCP, JWT', workload: 'jwt', routes: 1 }),
    other: otherCheckout === undefined ? undefined : await startOther(world, otherCheckout),
    web: await world.startGateway({ name: 'gateway, web cookie', workload: 'web', routes: 1 }),
    open: await world.startGateway({ name: 'gateway, public', workload: 'public', routes: 1 }),
    gatewayMany: await world.startGateway({
      ...{ name: `gateway, MCP, ${many}`, workload: 'mcp', routes: MANY },
    }),
    webMany: await world.startGateway({
      ...{ name: `gateway, web cookie, ${many}`, workload: 'web', routes: MANY },
    }),
    openMany: await world.startGateway({
      ...{ name: `gateway, public, ${many}`, workload: 'public', routes: MANY },
    }),
  };
}

/** The gateway of another checkout, under the name of its folder. */
async function startOther(world: BenchWorld, checkout: string): Promise<Subject> {
  const folder = await combineCheckouts(checkout, join(world.directory.path, 'other'));
  const name = `${basename(resolve(checkout))}, MCP`;
  return world.startGateway({ name, workload: 'mcp', routes: 1, folder });
}

async function startInstalled(
  world: BenchWorld,
  name: string,
  file: string,
  start: (options: ServerOptions) => Promise<NativeProgram & Pick<Subject, 'tokens'>>,
): Promise<Subject | undefined> {
  const version = versionOf(file);
  if (version === undefined) {
    printLeftOut(name, file);
    return undefined;
  }
  console.log(`${name}: ${version}`);
  const { directory, upstreamPort } = world;
  const options = { core: SUBJECT_CORE, upstreamPort, directory, stdout: world.openLog() };
  return { ...world.stack.use(await start(options)), name, workload: 'mcp' };
}
