import type { RolloutState } from '../push/publication.ts';
import type { ConditionState } from './condition.ts';
import { clip } from './describe-problems.ts';
import { describeRefusal, describeServed, type VerdictSummary } from './verdict-states.ts';

/** How far what serves has come. */
export interface PublicationState {
  /** Undefined: it is not published. Of what was published last, not of what an obstacle keeps back. */
  readonly rollout: RolloutState | undefined;
  /** Why nothing is published at present; undefined: it is. */
  readonly obstacle: string | undefined;
}

const MAX_LENGTH = 1024;

/**
 * Condition `Programmed`: every proxy serves the newest generation.
 *
 * `isProgrammed` says that it was true of this generation already. It stays so when a proxy goes or
 * comes, and when the content changes with something else than the generation: proxies serve it
 * meanwhile, and a condition that comes and goes with every pod is of use to nobody.
 */
export function programmedState(
  summary: VerdictSummary,
  { rollout, obstacle }: PublicationState,
  isProgrammed: boolean,
): ConditionState {
  if (!summary.isAccepted) {
    const message =
      obstacle === undefined
        ? describeServed(summary)
        : `${describeObstacle(obstacle)} Proxies keep serving the last published configuration. ${describeRefusal(summary)}`;
    return { status: 'False', reason: 'Invalid', message: clip(message, MAX_LENGTH) };
  }
  if (obstacle !== undefined) return isProgrammed ? programmed() : heldBack(obstacle);
  if (rollout?.kind === 'rejected') return rejected(rollout);
  if (isProgrammed) return programmed();
  return stateOf(rollout);
}

function stateOf(rollout: Exclude<RolloutState, { kind: 'rejected' }> | undefined): ConditionState {
  switch (rollout?.kind) {
    case 'programmed':
      return programmed();
    case 'pending': {
      const { acknowledged, proxies } = rollout;
      return pending(`${String(acknowledged)} of ${String(proxies)} proxies serve it.`);
    }
    case 'no-proxies':
      return { status: 'Unknown', reason: 'NoProxies', message: 'No proxy is connected.' };
    case undefined:
      return pending('It is not published yet.');
  }
}

function programmed(): ConditionState {
  return {
    status: 'True',
    reason: 'Programmed',
    message: 'Every proxy serves the newest generation.',
  };
}

function describeObstacle(obstacle: string): string {
  return `Publication is held back: ${obstacle}.`;
}

function pending(message: string): ConditionState {
  return { status: 'False', reason: 'Pending', message };
}

function heldBack(obstacle: string): ConditionState {
  const message = clip(describeObstacle(obstacle), MAX_LENGTH);
  return { status: 'False', reason: 'HeldBack', message };
}

function rejected({ proxy, message }: RolloutState & { kind: 'rejected' }): ConditionState {
  const text = proxy === undefined ? message : `Proxy ${proxy} refuses it: ${message}`;
  return { status: 'False', reason: 'Rejected', message: clip(text, MAX_LENGTH) };
}
