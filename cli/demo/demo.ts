import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { untilTerminated } from '../../shared/runtime/lifecycle.ts';
import { LineWriter } from '../../shared/telemetry/line-writer.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import type { Arguments } from '../arguments.ts';
import type { CommandStreams } from '../command.ts';
import { startStandaloneGateway, type StandaloneGateway } from '../process/standalone-gateway.ts';
import { startApplication } from './application/application.ts';
import { gatewayOrigins } from './gateway-origins.ts';
import { guide } from './guide.ts';
import { startIdentityProvider } from './identity-provider/identity-provider.ts';
import { LogView } from './log-view.ts';
import { PortInUseError, type LoopbackServer } from './loopback-server.ts';
import { startMcpServer } from './mcp-server/mcp-server.ts';
import { startNotesServer } from './notes-server/notes-server.ts';
import { readDemoFlags, type DemoFlags } from './demo-flags.ts';
import { writeManifests } from './write-manifests.ts';

/** The demo client, which a checkout has beside this file. */
const CLIENT = join(import.meta.dirname, 'client/main.ts');

/**
 * Runs the demo until a signal ends it: everything on loopback, everything in this process.
 *
 * Stdout has only the log, readable on a terminal and as JSON lines elsewhere. The guide is on stderr.
 * Resolves with the exit code.
 */
export async function runDemo(flags: Arguments, { environment }: CommandStreams): Promise<number> {
  const options = readDemoFlags(flags);
  const terminated = untilTerminated();
  const lines = new LineWriter(process.stdout.isTTY ? new LogView(process.stdout) : process.stdout);
  try {
    await using demo = await startDemo(options, environment, lines);
    process.stderr.write(demo.guide);
    await terminated;
    return 0;
  } catch (error) {
    if (!(error instanceof PortInUseError)) throw error;
    process.stderr.write(`gatehouse: ${error.message}\n`);
    return 1;
  } finally {
    lines.flush();
  }
}

interface Demo extends AsyncDisposable {
  /** The next steps for the user. */
  readonly guide: string;
}

async function startDemo(
  options: DemoFlags,
  environment: Environment,
  lines: LineWriter,
): Promise<Demo> {
  await using starting = new AsyncDisposableStack();
  const origins = await gatewayOrigins(options.gateway);
  const closing = (server: LoopbackServer): LoopbackServer => {
    starting.defer(() => server.close());
    return server;
  };
  const servers = {
    identityProvider: closing(
      await startIdentityProvider(options.identityProvider, origins.signIn),
    ),
    mcpServer: closing(await startMcpServer(options.mcpServer, origins.gateway)),
    notesServer: closing(await startNotesServer()),
    applicationServer: closing(await startApplication(origins.application)),
  };
  const directory = starting.use(
    await writeManifests({
      ...origins,
      identityProvider: servers.identityProvider.origin,
      mcpServer: servers.mcpServer.origin,
      notesServer: servers.notesServer.origin,
      applicationServer: servers.applicationServer.origin,
    }),
  );
  const gateway = await startGateway(directory.path, environment, lines);
  const others = starting.move();
  return {
    guide: guide({ ...origins, manifestPath: directory.path, isCheckout: existsSync(CLIENT) }),
    [Symbol.asyncDispose]: async () => {
      // All at once: open responses end when their server closes, and nobody waits for them.
      await Promise.all([gateway.close(), others.disposeAsync()]);
    },
  };
}

/** Starts the gateway like `gatehouse run`, on the ports that the manifests name. */
async function startGateway(
  path: string,
  environment: Environment,
  lines: LineWriter,
): Promise<StandaloneGateway> {
  const logger = createLogger('gatehouse', lines);
  const gateway = await startStandaloneGateway({
    path,
    listen: [],
    listenTls: [],
    adminListen: { host: '127.0.0.1', port: 0 },
    redis: undefined,
    sealingKeysDirectory: undefined,
    stateDirectory: join(path, 'state'),
    connectionLimits: { total: 0, perClient: 0 },
    accessLog: false,
    devAllowLoopback: true,
    environment,
    logger,
    lines,
  });
  logger.info('listening', { addresses: gateway.addresses, admin: gateway.adminAddress });
  return gateway;
}
