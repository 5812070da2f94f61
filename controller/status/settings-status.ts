import type { SettingsVerdict } from '../compile/compilation.ts';
import type { SettingsStatus } from '../kubernetes/stored-resources.ts';
import { certificatesState, certificateStatuses } from './certificates-state.ts';
import { summarizeVerdict } from './summarize-verdict.ts';
import type { GatewayReport } from './gateway-report.ts';
import type { PublicationState } from './programmed-state.ts';
import { resourceConditions } from './resource-conditions.ts';
import { lastGoodOf } from './last-good.ts';

/** Input of `settingsStatus`. */
export interface SettingsStatusInput extends PublicationState {
  readonly verdict: SettingsVerdict;
  readonly gateway: GatewayReport;
  /** The current status; undefined if there is none. */
  readonly current: SettingsStatus | undefined;
  readonly now: Date;
}

/**
 * Builds the status of GatewaySettings.
 *
 * They represent the gateway: unlike for a Route, `Programmed` becomes false when publication is held
 * back or no proxy is connected, although the settings have not changed.
 */
export function settingsStatus(input: SettingsStatusInput): SettingsStatus {
  const { verdict, gateway, rollout, obstacle, current, now } = input;
  const summary = summarizeVerdict(verdict);
  const conditions = resourceConditions({
    summary,
    publication: input,
    certificates: certificatesState(verdict.certificates, now),
    current: current?.conditions,
    staysProgrammed: obstacle === undefined && rollout?.kind !== 'no-proxies',
    now,
  });
  const certificates = certificateStatuses(verdict.certificates);
  const served = lastGoodOf(summary);
  return {
    observedGeneration: summary.generation,
    conditions,
    ...gateway,
    ...(certificates.length > 0 && { certificates }),
    ...(served && { served }),
  };
}
