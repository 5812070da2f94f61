import type { RouteVerdict, SettingsVerdict } from '../../controller/compile/compilation.ts';
import type { Problem } from '../../controller/validate/problem.ts';
import type { RouteStatus, SettingsStatus } from '../../controller/kubernetes/stored-resources.ts';

interface Outline {
  readonly name?: string;
  readonly generation?: number;
  readonly problems?: readonly Problem[];
  readonly isAccepted?: boolean;
  /** Generation that serves; defaults to the newest if it is accepted, else none. */
  readonly servedGeneration?: number;
  readonly hash?: string;
}

/** A verdict on Route `team-a/files`, which is accepted if there are no problems. */
export function routeVerdict(
  outline: Outline & {
    readonly namespace?: string;
    readonly uid?: string;
    readonly status?: RouteStatus;
  } = {},
): RouteVerdict {
  const { namespace = 'team-a', name = 'files', generation = 1, status } = outline;
  const { uid = `uid-${name}` } = outline;
  const verdict = verdictOf(outline, `route/${namespace}/${name}`);
  return {
    ...verdict,
    resource: {
      metadata: { name, namespace, uid, generation },
      spec: { from: 'https://files.example.com', to: 'http://files' },
      ...(status && { status }),
    },
    mcpRole: 'server',
    url: verdict.served === undefined ? '' : 'https://files.example.com',
  };
}

/** A verdict on GatewaySettings `gatehouse/gatehouse`. */
export function settingsVerdict(
  outline: Outline & { readonly status?: SettingsStatus; readonly attachedRoutes?: number } = {},
): SettingsVerdict {
  const { name = 'gatehouse', generation = 1, status, attachedRoutes = 1 } = outline;
  const verdict = verdictOf(outline, 'settings');
  return {
    ...verdict,
    keys: verdict.served === undefined ? [] : ['settings', 'signing-keys'],
    resource: {
      metadata: { name, namespace: 'gatehouse', uid: `uid-${name}`, generation },
      spec: {},
      ...(status && { status }),
    },
    attachedRoutes,
  };
}

function verdictOf(
  { generation = 1, problems = [], isAccepted = problems.length === 0, ...rest }: Outline,
  key: string,
): Pick<RouteVerdict, 'isAccepted' | 'problems' | 'served'> {
  const servedGeneration = rest.servedGeneration ?? (isAccepted ? generation : undefined);
  const hash = rest.hash ?? `hash-${String(servedGeneration)}`;
  return {
    isAccepted,
    problems: problems,
    ...(servedGeneration !== undefined && {
      served: { generation: servedGeneration, spec: { of: servedGeneration }, key, hash },
    }),
  };
}
