import type { RouteVerdict, SettingsVerdict } from '../compile/compilation.ts';
import type { Service } from '../kubernetes/objects.ts';
import type { RouteStatus, SettingsStatus } from '../kubernetes/stored-resources.ts';
import type { RolloutState, Publication } from '../push/publication.ts';
import { combineRolloutStates } from './combine-rollout-states.ts';
import { reportGateway } from './gateway-report.ts';
import { routeStatus } from './route-status.ts';
import { settingsStatus } from './settings-status.ts';

/** The state of the gateway that statuses report in addition to the verdicts on resources. */
export interface GatewayState {
  readonly gatewayClass: string;
  readonly publication: Publication;
  /** The reason why publication is held back; undefined if it is not. */
  readonly obstacle: string | undefined;
  /** The Service in front of the proxies. */
  readonly service: Service | undefined;
  readonly now: Date;
}

/** The status that a Route should have. */
export function wantedRouteStatus(
  verdict: RouteVerdict,
  gateway: GatewayState,
  {
    current,
    upstreamAuthSince: since,
  }: {
    readonly current: RouteStatus | undefined;
    /** When its upstream OAuth changed, as far as this process saw it. */
    readonly upstreamAuthSince: number | undefined;
  },
): RouteStatus {
  const { gatewayClass, publication, obstacle, now } = gateway;
  const keys = verdict.served === undefined ? [] : [verdict.served.key];
  const rollout = rolloutStateOf(keys, publication);
  const found = verdict.served && publication.upstreamAuth(verdict.served.key);
  const upstreamAuth = { found, since };
  return routeStatus({ verdict, gatewayClass, rollout, obstacle, upstreamAuth, current, now });
}

/** The status that the GatewaySettings should have. */
export function wantedSettingsStatus(
  verdict: SettingsVerdict,
  { publication, obstacle, service, now }: GatewayState,
  current: SettingsStatus | undefined,
): SettingsStatus {
  const rollout = rolloutStateOf(verdict.keys, publication);
  // While publication is held back, the routes published before serve.
  const published = obstacle === undefined ? undefined : current?.attachedRoutes;
  const attachedRoutes = published ?? verdict.attachedRoutes;
  const gateway = reportGateway({ service, publication, attachedRoutes });
  return settingsStatus({ verdict, gateway, rollout, obstacle, current, now });
}

function rolloutStateOf(
  keys: readonly string[],
  publication: Publication,
): RolloutState | undefined {
  return combineRolloutStates(keys.map((key) => publication.rolloutState(key)));
}
