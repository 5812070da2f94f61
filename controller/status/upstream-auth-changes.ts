import type { RouteVerdict } from '../compile/compilation.ts';
import { generationOf } from '../compile/generation.ts';
import { findCondition } from './condition.ts';

interface Known {
  readonly configuration: string;
  readonly since: number | undefined;
}

/** When the configuration of upstream OAuth changed, as far as this process saw it, by key of the route. */
export class UpstreamAuthChanges {
  readonly #known = new Map<string, Known>();

  /** Records a verdict; undefined: the route is deleted. `now` is in milliseconds since 1970. */
  observe(key: string, verdict: RouteVerdict | undefined, now: number): void {
    const configuration = verdict?.upstreamAuth?.configuration;
    const known = this.#known.get(key);
    if (verdict === undefined || configuration === undefined) this.#known.delete(key);
    else if (known === undefined) {
      this.#known.set(key, { configuration, since: firstSince(verdict, now) });
    } else if (known.configuration !== configuration) {
      this.#known.set(key, { configuration, since: now });
    }
  }

  /** When it changed; undefined if not since the status that was stored when this process began. */
  since(key: string): number | undefined {
    return this.#known.get(key)?.since;
  }
}

/**
 * Since when the configuration of a route that is seen for the first time holds. Undefined if the stored
 * condition is about the present generation: then another leader wrote it.
 *
 * A route that nobody changed is as it was made. Users connect as soon as proxies serve it, which is before a
 * leader that has just begun looks at it for its status.
 */
function firstSince({ resource }: RouteVerdict, now: number): number | undefined {
  const generation = generationOf(resource);
  const stored = findCondition(resource.status?.conditions, 'UpstreamAuthReady');
  if (stored?.observedGeneration === generation) return undefined;
  const made = Date.parse(resource.metadata.creationTimestamp ?? '');
  return generation === 1 && stored === undefined && made < now ? made : now;
}
