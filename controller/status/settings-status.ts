import type { SettingsVerdict } from '../compile/compilation.ts';
import type { SettingsStatus } from '../kubernetes/stored-resources.ts';
import { summarizeVerdict } from './summarize-verdict.ts';
import type { GatewayReport } from './gateway-report.ts';
import type { PublicationState } from './programmed-state.ts';
import { resourceConditions } from './resource-conditions.ts';
import { servedSpec } from './served-spec.ts';

export interface SettingsStatusInput extends PublicationState {
  readonly verdict: SettingsVerdict;
  readonly gateway: GatewayReport;
  /** The status they have; undefined when they have none. */
  readonly current: SettingsStatus | undefined;
  readonly now: Date;
}

/**
 * The status that GatewaySettings should have.
 *
 * They stand for the gateway: unlike a Route's, their `Programmed` says so when publication is held
 * back or no proxy is connected, although nothing about them has changed.
 */
export function settingsStatus(input: SettingsStatusInput): SettingsStatus {
  const { verdict, gateway, rollout, obstacle, current, now } = input;
  const summary = summarizeVerdict(verdict);
  const conditions = resourceConditions({
    summary,
    publication: input,
    current: current?.conditions,
    staysProgrammed: obstacle === undefined && rollout?.kind !== 'no-proxies',
    now,
  });
  const served = servedSpec(summary);
  return {
    observedGeneration: summary.generation,
    conditions,
    ...gateway,
    ...(served && { served }),
  };
}
