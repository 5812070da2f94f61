import type { CompiledResource } from '../../../shared/snapshot/snapshot.ts';
import { upstreamOrigin } from '../upstream-path.ts';

/** Counts how often a snapshot names each upstream, change by change. */
export class UpstreamUse {
  readonly #countOf = new Map<string, number>();

  /** Counts a change of the snapshot. */
  replace(before: CompiledResource | undefined, after: CompiledResource | undefined): void {
    for (const origin of originsOf(after)) {
      this.#countOf.set(origin, (this.#countOf.get(origin) ?? 0) + 1);
    }
    for (const origin of originsOf(before)) {
      const count = (this.#countOf.get(origin) ?? 0) - 1;
      if (count > 0) this.#countOf.set(origin, count);
      else this.#countOf.delete(origin);
    }
  }

  /** Returns whether the snapshot names `scheme://host[:port]`. */
  has(origin: string): boolean {
    return this.#countOf.has(origin);
  }
}

function originsOf(value: CompiledResource | undefined): readonly string[] {
  if (value?.kind === 'service') {
    return value.ports.flatMap(({ targets }) => targets.map((address) => `http://${address}`));
  }
  const isDirect = value?.kind === 'route' && value.backends === undefined;
  return isDirect ? [upstreamOrigin(value)] : [];
}
