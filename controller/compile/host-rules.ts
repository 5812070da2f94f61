/** Hosts that only routes of these namespaces may use. */
export interface HostRule {
  readonly namespaces: readonly string[];
  /** Hosts, or wildcards for the names below them. */
  readonly hosts: readonly string[];
}

/** Rules by host, so that a route costs a few look-ups however many rules there are. */
interface HostRuleIndex {
  /** By the host or wildcard that they name. */
  readonly named: ReadonlyMap<string, readonly HostRule[]>;
  /** By each wildcard above a host or wildcard that they name. */
  readonly above: ReadonlyMap<string, readonly HostRule[]>;
}

const INDEXES = new WeakMap<readonly HostRule[], HostRuleIndex>();

/**
 * Whether routes of a namespace may use a host: if rules cover it, one of them has to name the namespace.
 *
 * Attack: a wildcard above the hosts of a rule would serve those of them that have no route.
 */
export function mayHaveHost(rules: readonly HostRule[], namespace: string, host: string): boolean {
  const { named, above } = indexOf(rules);
  const covering = [host, ...wildcardsAbove(host)].flatMap((pattern) => named.get(pattern) ?? []);
  const allows = ({ namespaces }: HostRule): boolean => namespaces.includes(namespace);
  const isCovered = covering.length > 0;
  return (!isCovered || covering.some(allows)) && (above.get(host) ?? []).every(allows);
}

/** Whether a rule for a namespace names exactly this host. */
export function isHostNamed(rules: readonly HostRule[], namespace: string, host: string): boolean {
  const named = indexOf(rules).named.get(host) ?? [];
  return named.some(({ namespaces }) => namespaces.includes(namespace));
}

function indexOf(rules: readonly HostRule[]): HostRuleIndex {
  const known = INDEXES.get(rules);
  if (known !== undefined) return known;
  const named = new Map<string, HostRule[]>();
  const above = new Map<string, HostRule[]>();
  for (const rule of rules) {
    for (const host of rule.hosts) {
      addTo(named, host, rule);
      for (const wildcard of wildcardsAbove(host)) addTo(above, wildcard, rule);
    }
  }
  const index = { named, above };
  INDEXES.set(rules, index);
  return index;
}

function addTo(rules: Map<string, HostRule[]>, key: string, rule: HostRule): void {
  const list = rules.get(key);
  if (list === undefined) rules.set(key, [rule]);
  else list.push(rule);
}

/** `*.b.c` and `*.c` for `a.b.c`, and `*.c` for `*.b.c`. */
function wildcardsAbove(host: string): readonly string[] {
  const labels = host.replace(/^\*\./, '').split('.').slice(1);
  return labels.map((_label, index) => `*.${labels.slice(index).join('.')}`);
}
