import { ControllerMetrics } from '../../../controller/telemetry/controller-metrics.ts';
import { MetricsRegistry } from '../../../shared/telemetry/metrics/metrics-registry.ts';

type Labels = Readonly<Record<string, string | number>>;

/** The metrics of a controller, whose values a test reads. */
export class ReadableControllerMetrics extends ControllerMetrics {
  readonly registry: MetricsRegistry;

  constructor() {
    const registry = new MetricsRegistry();
    super(registry);
    this.registry = registry;
  }

  /** The value of `gatehouse_controller_NAME` with exactly these labels; of a histogram, with its suffix. */
  value(name: string, labels: Labels = {}): number | undefined {
    const wanted = JSON.stringify(sorted(labels));
    return this.#samples(name).find((sample) => JSON.stringify(sorted(sample.labels)) === wanted)
      ?.value;
  }

  /** The values of `gatehouse_controller_NAME`, which has one label, by that label. */
  values(name: string): Readonly<Record<string, number>> {
    const entries = this.#samples(name).map(
      ({ labels, value }) => [Object.values(labels).join(' '), value] as const,
    );
    return Object.fromEntries(entries);
  }

  #samples(name: string): readonly { readonly labels: Labels; readonly value: number }[] {
    const line = `gatehouse_controller_${name}`;
    return [...this.registry.families].flatMap((family) =>
      [...family.samples()]
        .filter(({ metricName = family.name }) => metricName === line)
        .map(({ labels, sharedLabels, value }) => ({
          labels: { ...labels, ...sharedLabels },
          value,
        })),
    );
  }
}

function sorted(labels: Labels): unknown {
  return Object.entries(labels).sort();
}
