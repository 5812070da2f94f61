import type { GatewaySettings } from '../../../crds/types.ts';
import { startGatehouse, type GatehouseProcess } from '../cli.ts';
import { freePort } from '../free-port.ts';
import { send, type Answer, type RequestOptions } from '../http-client.ts';
import { scrapeProcess } from '../metrics/scrape.ts';
import { publicRoute } from '../plain-route.ts';
import { TemporaryDirectory } from '../temporary-directory.ts';
import { startUpstream, type Upstream } from '../upstream.ts';

type SettingsSpec = NonNullable<GatewaySettings['spec']>;

export type TracingSpec = NonNullable<SettingsSpec['tracing']>;

/** A `gatehouse run` with a public route, whose tracing a test sets. */
export interface TracedProcess extends AsyncDisposable {
  readonly gatehouse: GatehouseProcess;
  readonly upstream: Upstream;
  readonly port: number;
  /** Sends a request to the route. */
  send(path: string, options?: RequestOptions): Promise<Answer>;
  /** Writes other settings; the process applies them by itself. */
  configure(settings: SettingsSpec): Promise<void>;
  /** Returns how many spans were lost, by the metrics of the process. */
  droppedSpans(): Promise<number>;
}

/** What a process has besides its settings. */
interface ProcessOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Returns further manifests, for routes on its port. */
  readonly manifests?: (port: number) => readonly object[];
}

/** Starts the process with these settings. */
export async function startTracedProcess(
  settings: SettingsSpec,
  { environment = {}, manifests = () => [] }: ProcessOptions = {},
): Promise<TracedProcess> {
  await using opening = new AsyncDisposableStack();
  const directory = opening.use(await TemporaryDirectory.create());
  const upstream = opening.use(
    await startUpstream((message, response) => {
      message.resume();
      response.end('fine');
    }),
  );
  const port = await freePort();
  const configure = async (spec: SettingsSpec): Promise<void> => {
    const manifest = {
      apiVersion: 'gatehouse.dev/v1alpha1',
      kind: 'GatewaySettings',
      metadata: { name: 'gatehouse' },
      spec,
    };
    await directory.write('settings.yaml', JSON.stringify(manifest));
  };
  await directory.write('route.yaml', publicRoute('app', port, upstream.origin));
  await configure(settings);
  const further = manifests(port).map((manifest) => JSON.stringify(manifest));
  await directory.write('further.yaml', further.join('\n---\n'));
  const gatehouse = opening.use(
    startGatehouse(
      [
        ...['run', '--config', directory.path, '--dev-allow-loopback'],
        ...['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'],
      ],
      environment,
    ),
  );
  const { admin } = await gatehouse.listening();
  const open = opening.move();
  return {
    ...{ gatehouse, upstream, port, configure },
    send: (path, options) => send(`http://localhost:${String(port)}${path}`, options),
    async droppedSpans() {
      const { value } = await scrapeProcess(admin);
      return value('gatehouse_spans_total', { outcome: 'dropped' });
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Settings that export to a collector as soon as they can. */
export function exportingTo(endpoint: string, more: TracingSpec = {}): { tracing: TracingSpec } {
  const bspScheduleDelayMilliseconds = 100;
  return { tracing: { tracesExporter: 'otlp', endpoint, bspScheduleDelayMilliseconds, ...more } };
}
