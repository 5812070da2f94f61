import { deriveAssertionKeys } from '../../../proxy/crypto/assertion-keys.ts';
import type { SealingKeys } from '../../../proxy/crypto/sealing-key.ts';
import { Gateway } from '../../../proxy/gateway.ts';
import type { Stores } from '../../../proxy/store/stores.ts';
import type { ProxyMetrics } from '../../../proxy/telemetry/metrics/proxy-metrics.ts';
import { LineWriter } from '../../../shared/telemetry/line-writer.ts';
import { createLogger } from '../../../shared/telemetry/logger.ts';
import type { Tracer } from '../../../shared/telemetry/tracing/tracer.ts';
import { freePort } from '../../support/free-port.ts';
import { discard, type Ready } from '../support/subject-process.ts';
import { compileBenchConfiguration } from './bench-configuration.ts';
import { issueCredentials } from './bench-credentials.ts';
import { startJwtIssuer } from './jwt-issuer.ts';
import type { Workload } from './workload.ts';

/** Options of a measured gateway. */
export interface BenchGatewayOptions {
  /** Origin of the server behind the gateway. */
  readonly upstream: string;
  readonly stores: Stores;
  readonly sealingKeys: SealingKeys;
  /** Absent: MCP. */
  readonly workload?: Workload;
  /** Number of routes; absent: one. */
  readonly routes?: number;
  /** Port in `from` of the routes; absent: the port that the gateway listens on. */
  readonly routePort?: number;
  /** Receives the log; absent: nothing does. */
  readonly lines?: LineWriter;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Absent: nobody reads them. */
  readonly metrics?: ProxyMetrics | undefined;
  /** Whether clients connect with TLS; absent: they do not. */
  readonly isTls?: boolean;
}

/** Starts a gateway as the commands do, with state that already holds what its callers carry. */
export async function startBenchGateway(options: BenchGatewayOptions): Promise<Ready> {
  const { upstream, stores, sealingKeys } = options;
  const { workload = 'mcp', routes = 1, lines = new LineWriter(discard) } = options;
  const { tracer, metrics, isTls = false } = options;
  const gateway = new Gateway({
    devAllowLoopback: true,
    sealingKeys,
    defaultSigningKeys: deriveAssertionKeys(sealingKeys),
    stores,
    logger: createLogger('bench', lines),
    lines,
    ...(tracer !== undefined && { tracing: { tracer, apply: () => undefined } }),
    ...(metrics !== undefined && { metrics }),
  });
  const listening = isTls
    ? { host: '127.0.0.1', port: await freePort(), isTls }
    : { host: '127.0.0.1', port: 0 };
  const [address = listening] = await gateway.listen([listening]);
  const { routePort: port = address.port } = options;
  const configuration = { workload, routes, port, upstream, isTls };
  if (workload === 'jwt') {
    const { jwksUrl, tokens } = await startJwtIssuer();
    await gateway.apply(compileBenchConfiguration({ ...configuration, jwksUrl }));
    return { port: address.port, tokens };
  }
  await gateway.apply(compileBenchConfiguration(configuration));
  const tokens = await issueCredentials(workload, { port, stores, sealingKeys, isTls });
  return { port: address.port, tokens };
}
