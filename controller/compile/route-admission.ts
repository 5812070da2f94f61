import type { GatewaySettings } from '../../crds/types.ts';
import { durationMs } from './duration.ts';
import type { HostRule } from './host-rules.ts';
import { selects, type Labels, type LabelSelector } from './label-selector.ts';
import { namespaceOf } from './resources.ts';

/** The part of the settings that decides which routes may serve. */
export interface RouteAdmission {
  readonly namespaces:
    | { readonly from: 'All' }
    | { readonly from: 'Same'; readonly namespace: string }
    | { readonly from: 'Selector'; readonly selector: LabelSelector };
  /** Hosts that routes of several namespaces may use. */
  readonly sharedHosts: ReadonlySet<string>;
  /** Namespaces that may have routes with `mcp.client`. */
  readonly mcpClientNamespaces: readonly string[];
  readonly hostRules: readonly HostRule[];
  /** How long a host stays with a namespace after its last route there; 0: not at all. */
  readonly hostHoldMs: number;
}

const DEFAULT_HOST_HOLD = '24h';
const NO_RULES: readonly HostRule[] = [];

/** Admits all routes while there are no settings: none serves then, but hosts keep their owners. */
export const ADMIT_ALL: RouteAdmission = {
  namespaces: { from: 'All' },
  sharedHosts: new Set(),
  mcpClientNamespaces: [],
  hostRules: NO_RULES,
  hostHoldMs: durationMs(DEFAULT_HOST_HOLD),
};

/** Compiles the rules of settings that admit routes. */
export function compileAdmission(settings: GatewaySettings): RouteAdmission {
  const { allowedRoutes, sharedHosts = [], hostPatterns, hostHoldTime } = settings.spec;
  const { mcpClientNamespaces = [namespaceOf(settings)] } = settings.spec;
  return {
    namespaces: compileNamespaces(allowedRoutes?.namespaces ?? {}, settings),
    sharedHosts: new Set(sharedHosts),
    mcpClientNamespaces,
    hostRules: hostPatterns ?? NO_RULES,
    hostHoldMs: durationMs(hostHoldTime ?? DEFAULT_HOST_HOLD),
  };
}

type Namespaces = NonNullable<NonNullable<GatewaySettings['spec']['allowedRoutes']>['namespaces']>;

function compileNamespaces(
  { from = 'All', selector }: Namespaces,
  settings: GatewaySettings,
): RouteAdmission['namespaces'] {
  if (from === 'All') return { from };
  const namespace = namespaceOf(settings);
  // The schema requires a selector. Without one, only the gateway's own namespace is admitted.
  if (from === 'Same' || selector === undefined) return { from: 'Same', namespace };
  return { from, selector };
}

/**
 * Whether routes of a namespace may serve. `labels` are the labels of the namespace; undefined if it is
 * unknown, and then no selector selects it.
 */
export function admits(
  { namespaces }: RouteAdmission,
  namespace: string,
  labels: Labels | undefined,
): boolean {
  switch (namespaces.from) {
    case 'All':
      return true;
    case 'Same':
      return namespaces.namespace === namespace;
    case 'Selector':
      return labels !== undefined && selects(namespaces.selector, labels);
  }
}
