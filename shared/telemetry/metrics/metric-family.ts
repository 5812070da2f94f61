/** The kinds of metrics, by their names in the text format of Prometheus. */
export type MetricKind = 'counter' | 'gauge' | 'histogram';

/** Name, meaning and labels of a metric. */
export interface MetricDefinition<Label extends string = never> {
  /** In base units, with the prefix `gatehouse_`; `_total` ends the names of counters, and of no others. */
  readonly name: string;
  /** One sentence for operators; docs/metrics.md shows it. */
  readonly help: string;
  /** The values of each label are bounded, and name no user, client or secret. */
  readonly labels?: readonly Label[];
}

/** A value for each label. */
export type LabelValues<Label extends string = string> = Readonly<Record<Label, string>>;

/** One value of a metric. Members are named as prom-client reads them. */
export interface Sample {
  /** Name of the line where it is not the name of the metric: that of a bucket, a sum or a count. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  /** Labels that several samples have in common. */
  readonly sharedLabels?: LabelValues;
  readonly value: number;
}

/** A metric with the values that it has now. */
export interface MetricFamily {
  readonly kind: MetricKind;
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  samples(): Iterable<Sample>;
}
