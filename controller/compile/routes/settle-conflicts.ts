import { findConflicts, type Candidate } from '../find-conflicts.ts';
import { MultiMap } from '../multi-map.ts';
import type { Finding } from '../outcome.ts';
import type { RouteGeneration } from './route-generation.ts';

/** A route that asks for hosts. */
export interface Claimant {
  readonly namespace: string;
  /** Sorts by age, then by namespace and name. */
  readonly age: string;
  readonly newest: RouteGeneration;
  /** An older generation, which goes on serving while the newest cannot. */
  readonly fallback: RouteGeneration | undefined;
}

/** Which generation of each claimant serves. */
export interface Settlement<C extends Claimant> {
  /** Those of which none does are missing. */
  readonly serving: ReadonlyMap<C, RouteGeneration>;
  /** Why the newest of a claimant, which is valid by itself, does not serve. */
  readonly conflicts: ReadonlyMap<C, Finding>;
}

/**
 * Decides what serves of routes that may ask for the same: the newest generation of each, or else
 * its fallback. A fallback may displace others, which asked for what the newest gave up: they go back
 * in turn. None goes forth again, so that it ends.
 *
 * It depends on nothing but its input, whatever the order.
 */
export function settleConflicts<C extends Claimant>(
  claimants: Iterable<C>,
  ownerOf: (host: string) => string | undefined,
): Settlement<C> {
  const onHost = new MultiMap<string, Contender<C>>();
  for (const claimant of claimants) {
    const contender = contend(claimant, claimant.newest) ?? contend(claimant, claimant.fallback);
    if (contender !== undefined) onHost.add(contender.compiled.host, contender);
  }
  const conflicts = new Map<C, Finding>();
  const losersOn = new Map<string, ReadonlyMap<Contender<C>, Finding>>();
  let hosts = new Set(onHost.keys());
  while (hosts.size > 0) {
    for (const host of hosts) {
      losersOn.set(host, findConflicts([...onHost.get(host)], ownerOf(host)));
    }
    const retreats = [...hosts].flatMap((host) =>
      [...(losersOn.get(host) ?? [])].flatMap(([contender, finding]) => {
        const next = retreatOf(contender);
        return next === undefined ? [] : [{ contender, finding, next }];
      }),
    );
    hosts = new Set();
    for (const { contender, finding, next } of retreats) {
      conflicts.set(contender.claimant, finding);
      onHost.delete(contender.compiled.host, contender);
      onHost.add(next.compiled.host, next);
      hosts.add(contender.compiled.host).add(next.compiled.host);
    }
  }
  return { ...outcomeOf(onHost, losersOn), conflicts: mergeConflicts(conflicts, losersOn) };
}

/** A generation of a claimant that tries to serve. */
interface Contender<C extends Claimant> extends Candidate {
  readonly claimant: C;
  readonly generation: RouteGeneration;
}

function contend<C extends Claimant>(
  claimant: C,
  generation: RouteGeneration | undefined,
): Contender<C> | undefined {
  const compiled = generation?.compiled;
  if (generation === undefined || compiled === undefined) return undefined;
  const { namespace, age } = claimant;
  return { namespace, age, compiled, claimant, generation };
}

function retreatOf<C extends Claimant>({
  claimant,
  generation,
}: Contender<C>): Contender<C> | undefined {
  return generation === claimant.newest ? contend(claimant, claimant.fallback) : undefined;
}

function outcomeOf<C extends Claimant>(
  onHost: MultiMap<string, Contender<C>>,
  losersOn: ReadonlyMap<string, ReadonlyMap<Contender<C>, Finding>>,
): Pick<Settlement<C>, 'serving'> {
  const serving = new Map<C, RouteGeneration>();
  for (const host of onHost.keys()) {
    for (const contender of onHost.get(host)) {
      if (losersOn.get(host)?.has(contender) === true) continue;
      serving.set(contender.claimant, contender.generation);
    }
  }
  return { serving };
}

/** Why the newest generations lost: those that went back, and those that had nowhere to go. */
function mergeConflicts<C extends Claimant>(
  retreated: ReadonlyMap<C, Finding>,
  losersOn: ReadonlyMap<string, ReadonlyMap<Contender<C>, Finding>>,
): ReadonlyMap<C, Finding> {
  const stayed = [...losersOn.values()].flatMap((losers) =>
    [...losers].flatMap(([{ claimant, generation }, finding]) =>
      generation === claimant.newest ? [[claimant, finding] as const] : [],
    ),
  );
  return new Map([...stayed, ...retreated]);
}
