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
      const since = isAboutPresent(verdict) ? undefined : now;
      this.#known.set(key, { configuration, since });
    } else if (known.configuration !== configuration) {
      this.#known.set(key, { configuration, since: now });
    }
  }

  /** When it changed; undefined if not since the status that was stored when this process began. */
  since(key: string): number | undefined {
    return this.#known.get(key)?.since;
  }
}

/** Whether the stored condition is about the present generation, so that another leader wrote it. */
function isAboutPresent({ resource }: RouteVerdict): boolean {
  const stored = findCondition(resource.status?.conditions, 'UpstreamAuthReady');
  return stored?.observedGeneration === generationOf(resource);
}
