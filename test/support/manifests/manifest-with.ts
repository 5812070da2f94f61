import { parse } from 'yaml';

import { aRoute, aSettings } from '../resources.ts';

/**
 * A Route with changes of its spec, as YAML, and nothing else missing. A null `from` or `to` removes
 * it.
 */
export function routeWith(yaml: string): Readonly<Record<string, unknown>> {
  const { backendRefs, ...changes } = parse(yaml) as Readonly<Record<string, unknown>>;
  const to = backendRefs === undefined ? { to: 'http://app:8080' } : { backendRefs };
  const spec = { from: 'https://app.example.com', ...to, ...changes };
  return { ...aRoute(), spec: withoutNullAt(['from', 'to'], spec) };
}

/** GatewaySettings with this spec. */
export function settingsWith(yaml: string): Readonly<Record<string, unknown>> {
  return { ...aSettings(), spec: parse(yaml) as unknown };
}

function withoutNullAt(names: readonly string[], spec: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(spec).filter(([name, value]) => value !== null || !names.includes(name)),
  );
}
