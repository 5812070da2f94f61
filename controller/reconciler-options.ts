import type { Clock } from '../shared/runtime/clock.ts';
import type { Logger } from '../shared/telemetry/logger.ts';
import type { ProcessTracing } from '../shared/telemetry/tracing/settings/process-tracing.ts';
import type { KubernetesApi } from './kubernetes/kubernetes-api.ts';
import type { StatusWriterLimits } from './status/status-writer.ts';
import type { ControllerMetrics } from './telemetry/controller-metrics.ts';
import type { ProxyObject } from './watch/cluster-watch.ts';

/** Options of a reconciler. */
export interface ReconcilerOptions {
  readonly api: KubernetesApi;
  readonly logger: Logger;
  /** The audit log. */
  readonly audit: Logger;
  readonly metrics: ControllerMetrics;
  readonly clock: Clock;
  readonly wallTime?: () => Date;
  /** Name of this process as holder of the Lease. */
  readonly identity: string;
  /** Namespace that Gatehouse is installed in. */
  readonly namespace: string;
  /** Namespaces of Routes; undefined for all. */
  readonly watchNamespaces: readonly string[] | undefined;
  readonly gatewayClass: string;
  readonly settingsName: string;
  readonly proxyService: ProxyObject;
  /** How long a configuration that lost nearly all routes is held back. */
  readonly deletionDelayMs: number;
  /** How long objects that the settings refer to may load before that is reported. */
  readonly referencePatienceMs: number;
  readonly limits?: StatusWriterLimits;
  /** Records what the process does; absent: nothing is traced. */
  readonly tracing?: ProcessTracing;
}
