import { disposeAfterEach } from '../dispose-after-each.ts';
import { compiledSettings } from '../compiled-settings.ts';
import { aCompiledService } from '../compiled-resources.ts';
import { createRecordingLogger } from '../redis/recording-logger.ts';
import { PushClient, type PushClientOptions } from '../../../proxy/push/push-client.ts';
import type { ProxyStatus } from '../../../proxy/push/controller-stream.ts';
import { UpstreamAuthJournal } from '../../../proxy/push/upstream-auth-journal.ts';
import type { PlacedSnapshot } from '../../../proxy/store/snapshot/snapshot-keeper.ts';
import { snapshotOf } from '../../../shared/snapshot/hash-resource.ts';
import { fullFrames } from './frames.ts';
import {
  startScriptedController,
  type ProxyStream,
  type ScriptedController,
} from './scripted-controller.ts';
import { aFullRoute, resourcesOf } from './some-resources.ts';

/** Resources of the first snapshot that tests send. */
export const RESOURCES = resourcesOf(compiledSettings(), aFullRoute(), aCompiledService());
/** The first snapshot that tests send. */
export const SNAPSHOT = snapshotOf(RESOURCES);
/** The position of that snapshot. */
export const FIRST = { epoch: 3, sequence: 1 };
/** The position after that. */
export const SECOND = { epoch: 3, sequence: 2 };

/** A push client, and what it applied and logged. */
export interface ConnectedProxy {
  readonly client: PushClient;
  readonly applied: PlacedSnapshot[];
  readonly logger: ReturnType<typeof createRecordingLogger>;
  status: ProxyStatus;
}

type Access = Pick<ScriptedController, 'ca' | 'tokenFile'>;
type Options = Partial<PushClientOptions>;

/** Starts push clients for the tests of a file, and closes them after each test. */
export function connectedProxies(): {
  readonly keep: ReturnType<typeof disposeAfterEach>;
  /** Starts a proxy that connects to a port. */
  readonly connectProxy: (access: Access, port: number, options?: Options) => ConnectedProxy;
  /** Starts a proxy, and a controller that accepted its stream. */
  readonly startConnected: (
    options?: Options,
  ) => Promise<ConnectedProxy & { controller: ScriptedController; stream: ProxyStream }>;
} {
  const keep = disposeAfterEach();
  const connectProxy = ({ ca, tokenFile }: Access, port: number, options: Options = {}) => {
    const applied: PlacedSnapshot[] = [];
    const logger = createRecordingLogger();
    const proxy = { applied, logger, status: { ready: false, draining: false, conns: 0 } };
    const client = new PushClient({
      url: `https://localhost:${String(port)}`,
      ca,
      tokenFile,
      proxyId: 'proxy-1',
      logger,
      upstreamAuth: new UpstreamAuthJournal(),
      handlers: {
        apply: (placed) => {
          applied.push(placed);
          return [];
        },
        status: () => proxy.status,
      },
      ...options,
    });
    keep({ [Symbol.asyncDispose]: () => client.close() });
    return Object.assign(proxy, { client });
  };
  const startConnected = async (options: Options = {}) => {
    const controller = keep(await startScriptedController());
    const proxy = connectProxy(controller, controller.port, options);
    const stream = await controller.nextStream();
    stream.accept();
    return Object.assign(proxy, { controller, stream });
  };
  return { keep, connectProxy, startConnected };
}

/** Sends the snapshot at its first position, and waits until it is acknowledged. */
export async function sendFirst(stream: ProxyStream): Promise<void> {
  stream.send(fullFrames(FIRST, RESOURCES));
  await stream.next('ack');
}
