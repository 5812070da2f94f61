import type { MetricReading } from '../../shared/telemetry/metrics/value-metric.ts';

const MS_PER_SECOND = 1000;

/** The most time series. */
const MAX_READINGS = 100;

/** Stands for several proxies. No pod can have this name. */
const OTHERS = '_other';

/** How far a proxy lags behind the newest snapshot. */
export interface LaggingProxy {
  readonly id: string;
  readonly lagMs: number;
}

/**
 * Returns the lags of proxies in seconds. Beyond 100 proxies, those that came first have a reading of their
 * own, and `_other` is the longest lag of the rest.
 */
export function lagReadings(proxies: readonly LaggingProxy[]): readonly MetricReading<'proxy'>[] {
  if (proxies.length <= MAX_READINGS) return proxies.map(readingOf);
  const rest = proxies.slice(MAX_READINGS - 1).map(({ lagMs }) => lagMs);
  const others = { id: OTHERS, lagMs: Math.max(...rest) };
  return [...proxies.slice(0, MAX_READINGS - 1), others].map(readingOf);
}

function readingOf({ id, lagMs }: LaggingProxy): MetricReading<'proxy'> {
  return { labels: { proxy: id }, value: lagMs / MS_PER_SECOND };
}
