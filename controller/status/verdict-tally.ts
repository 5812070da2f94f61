import type { RouteVerdict, SettingsVerdict } from '../compile/compilation.ts';
import type { CompileMetrics, VerdictClass } from '../telemetry/compile-metrics.ts';

/** Counts verdicts and their problems in the metrics, at a cost that does not depend on their number. */
export class VerdictTally {
  readonly #metrics: Pick<CompileMetrics, 'routes' | 'problems'>;

  constructor(metrics: Pick<CompileMetrics, 'routes' | 'problems'>) {
    this.#metrics = metrics;
  }

  /** Counts a verdict on a Route in place of the one before; undefined: there is none. */
  replaceRoute(before: RouteVerdict | undefined, after: RouteVerdict | undefined): void {
    this.#countRoute(before, -1);
    this.#countRoute(after, 1);
  }

  /** Counts a verdict on the settings in place of the one before; undefined: there is none. */
  replaceSettings(before: SettingsVerdict | undefined, after: SettingsVerdict | undefined): void {
    this.#countProblems('GatewaySettings', before, -1);
    this.#countProblems('GatewaySettings', after, 1);
  }

  #countRoute(verdict: RouteVerdict | undefined, amount: 1 | -1): void {
    if (verdict === undefined) return;
    this.#metrics.routes.cell({ verdict: classOf(verdict) }).value += amount;
    this.#countProblems('Route', verdict, amount);
  }

  #countProblems(
    kind: 'Route' | 'GatewaySettings',
    verdict: RouteVerdict | SettingsVerdict | undefined,
    amount: 1 | -1,
  ): void {
    for (const { reason } of verdict?.problems ?? []) {
      this.#metrics.problems.cell({ kind, reason }).value += amount;
    }
  }
}

function classOf({ isAccepted, served, waiting }: RouteVerdict): VerdictClass {
  if (isAccepted) return 'accepted';
  if (served !== undefined) return 'last-good';
  return waiting === undefined ? 'rejected' : 'waiting';
}
