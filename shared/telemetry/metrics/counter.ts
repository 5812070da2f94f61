import type { LabelValues, MetricFamily } from './metric-family.ts';
import { ValueMetric } from './value-metric.ts';

/** Counts events. Whoever counts often keeps a cell, and adds to its value. */
export class Counter<Label extends string = never>
  extends ValueMetric<Label>
  implements MetricFamily
{
  readonly kind = 'counter';

  add(labels: LabelValues<Label>, amount = 1): void {
    this.cell(labels).value += amount;
  }
}
