import type { LabelValues, MetricFamily } from './metric-family.ts';
import { ValueMetric } from './value-metric.ts';

/** A value that goes up and down. */
export class Gauge<Label extends string = never>
  extends ValueMetric<Label>
  implements MetricFamily
{
  readonly kind = 'gauge';

  set(labels: LabelValues<Label>, value: number): void {
    this.cell(labels).value = value;
  }
}
