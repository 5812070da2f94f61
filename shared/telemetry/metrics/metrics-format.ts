/** A text format of metrics. */
export type MetricsFormat = 'openmetrics' | 'prometheus';

/** The media types of the formats. */
export const METRICS_CONTENT_TYPES = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const satisfies Readonly<Record<MetricsFormat, string>>;

/** Returns the format that an `Accept` header prefers: OpenMetrics 1.0.0 where it is asked for, else Prometheus. */
export function metricsFormatFor(accept: string | undefined): MetricsFormat {
  const ranges = (accept ?? '').toLowerCase().split(',').map(parseRange);
  const openMetrics = qualityOf(ranges, 'application/openmetrics-text', '1.0.0');
  const prometheus = qualityOf(ranges, 'text/plain', '0.0.4');
  return openMetrics > 0 && openMetrics >= prometheus ? 'openmetrics' : 'prometheus';
}

interface MediaRange {
  readonly type: string;
  readonly version: string | undefined;
  readonly quality: number;
}

function parseRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  const valueOf = (name: string): string | undefined =>
    parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1);
  return { type, version: valueOf('version'), quality: Number(valueOf('q') ?? 1) };
}

/** Returns 0 if the type is not among the ranges. */
function qualityOf(ranges: readonly MediaRange[], type: string, version: string): number {
  const qualities = ranges
    .filter((range) => range.type === type && (range.version ?? version) === version)
    .map(({ quality }) => quality);
  return Math.max(0, ...qualities);
}
