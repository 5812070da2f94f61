import { parseAllDocuments } from 'yaml';

import type { ResourceProblem } from '../../controller/validate/problem.ts';
import type { SecretValues } from '../../controller/validate/secret.ts';
import { validateResource } from '../../controller/validate/validate-resource.ts';
import type { GatewaySettings, Route } from '../../crds/types.ts';
import { deriveAssertionKeys } from '../../proxy/crypto/assertion-keys.ts';
import { makeSealingKeys } from '../../cli/process/sealing-keys.ts';
import type { SealingKeys } from '../../proxy/crypto/sealing-key.ts';
import type { GatewayOptions } from '../../proxy/create-stages.ts';
import { Gateway } from '../../proxy/gateway.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import { ProxyMetrics } from '../../proxy/telemetry/metrics/proxy-metrics.ts';
import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import { MetricsRegistry } from '../../shared/telemetry/metrics/metrics-registry.ts';
import { LineWriter } from '../../shared/telemetry/line-writer.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { compileOnce } from './compile-once.ts';
import { openDefaultStores, recordedSink, withoutClosing } from './redis/suite/default-stores.ts';
import { recordedTracing, recordMetrics } from './redis/suite/recorded-telemetry.ts';

/** A whole gateway in this process, on a port of its own, configured by manifests. */
export interface TestGateway extends AsyncDisposable {
  readonly port: number;
  /** `http://localhost:PORT`, for `from` in manifests. */
  readonly origin: string;
  readonly gateway: Gateway;
  readonly metrics: MetricsRegistry;
  readonly stores: Stores;
  readonly sealingKeys: SealingKeys;
  /** Compiles manifests, and serves them from now on. Throws if there is a problem. */
  apply(manifests: string): Promise<void>;
  /** Everything logged so far, including the authorization log. */
  logs(): readonly Readonly<Record<string, unknown>>[];
  /** Records of the authorization log so far. */
  decisions(): readonly Readonly<Record<string, unknown>>[];
}

/** Starts a gateway without configuration. */
export async function startGateway(
  overrides: Partial<
    Pick<
      GatewayOptions,
      | 'accessLog'
      | 'connectionLimits'
      | 'devAllowLoopback'
      | 'sealingKeys'
      | 'stores'
      | 'now'
      | 'guardedFetch'
      | 'tracing'
    >
  > = {},
): Promise<TestGateway> {
  let log = '';
  const lines = new LineWriter(recordedSink({ write: (text) => (log += text) }));
  const logger = createLogger('proxy', lines);
  const { sealingKeys = makeSealingKeys() } = overrides;
  const opened =
    overrides.stores === undefined
      ? await openDefaultStores({ sealingKeys, logger, now: overrides.now })
      : withoutClosing(overrides.stores);
  const { stores } = opened;
  const tracing = recordedTracing();
  const registry = new MetricsRegistry();
  const metrics = new ProxyMetrics(registry);
  const gateway = new Gateway({
    devAllowLoopback: true,
    sealingKeys,
    defaultSigningKeys: deriveAssertionKeys(sealingKeys),
    logger,
    lines,
    ...(tracing !== undefined && { tracing }),
    ...overrides,
    stores,
    metrics,
  });
  const [address] = await gateway.listen([{ host: '127.0.0.1', port: 0 }]);
  if (address === undefined) throw new Error('not listening');
  const logs = (): Readonly<Record<string, unknown>>[] => {
    lines.flush();
    const written = log.split('\n').filter((line) => line !== '');
    // The log is JSON lines.
    return written.map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  return {
    port: address.port,
    origin: `http://localhost:${String(address.port)}`,
    gateway,
    metrics: registry,
    stores,
    sealingKeys,
    apply: (manifests) => gateway.apply(compileManifests(manifests)),
    logs,
    decisions: () => logs().filter(({ message }) => message === 'authorize check'),
    async [Symbol.asyncDispose]() {
      await recordMetrics(registry);
      await gateway.close();
      lines.flush();
      await opened.close();
    },
  };
}

/** Compiles manifests without problems. */
export function compileManifests(manifests: string): Snapshot {
  const routes: Route[] = [];
  const secrets = new Map<string, SecretValues>();
  const configMaps = new Map<string, ReadonlyMap<string, string>>();
  let settings: GatewaySettings | undefined;
  const problems: ResourceProblem[] = [];
  for (const [index, document] of parseAllDocuments(manifests).entries()) {
    const validation = validateResource(document.toJS(), `document ${String(index + 1)}`);
    if (validation.kind === 'invalid') {
      problems.push(...validation.problems);
      continue;
    }
    const { resource } = validation;
    if (resource.kind === 'Route') routes.push(resource);
    else if (resource.kind === 'GatewaySettings') settings = resource;
    else {
      const name = `${resource.metadata.namespace}/${resource.metadata.name}`;
      if (resource.kind === 'Secret') secrets.set(name, resource.values);
      else configMaps.set(name, resource.values);
    }
  }
  const compiled = compileOnce(
    { routes, settings, secrets, configMaps },
    { devAllowLoopback: true },
  );
  problems.push(...compiled.problems);
  if (problems.length > 0) throw new Error(JSON.stringify(problems, null, 2));
  return compiled.snapshot;
}
