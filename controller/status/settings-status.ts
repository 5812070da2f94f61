import type { SettingsVerdict } from '../compile/compilation.ts';
import type { SettingsStatus } from '../kubernetes/stored-resources.ts';
import { decisionOf } from './decision-of.ts';
import type { GatewayReport } from './gateway-report.ts';
import type { Progress } from './programmed-claim.ts';
import { resourceConditions } from './resource-conditions.ts';
import { servedSpec } from './served-spec.ts';

export interface SettingsStatusInput extends Progress {
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
  const { verdict, gateway, programming, obstacle, current, now } = input;
  const decision = decisionOf(verdict);
  const conditions = resourceConditions({
    decision,
    progress: input,
    current: current?.conditions,
    staysProgrammed: obstacle === undefined && programming?.kind !== 'no-proxies',
    now,
  });
  const served = servedSpec(decision);
  return {
    observedGeneration: decision.generation,
    conditions,
    ...gateway,
    ...(served && { served }),
  };
}
