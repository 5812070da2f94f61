import type { RolloutState } from '../push/publication.ts';
import type { ConditionState } from './condition.ts';
import { clip } from '../../shared/runtime/clip.ts';
import { describeNotServed, describeServed, type VerdictSummary } from './verdict-states.ts';

/** The state of the publication, as far as it concerns one resource. */
export interface PublicationState {
  /** Rollout state of the published version, not of a held-back one; undefined if none is published. */
  readonly rollout: RolloutState | undefined;
  /** The reason why publication is held back; undefined if it is not. */
  readonly obstacle: string | undefined;
}

const MAX_LENGTH = 1024;

/**
 * The state of condition `Programmed`: every proxy serves the newest generation.
 *
 * `isProgrammed` means that the condition is already true for this generation. It then stays true
 * while proxies come and go, and while content changes that is not the generation: proxies keep
 * serving it, and a condition that flaps with every pod helps nobody.
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
        : `${describeObstacle(obstacle)} Proxies keep serving the last published configuration. ${describeNotServed(summary)}`;
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
      return pending(
        `${String(acknowledged)} of ${String(proxies)} proxies serve the newest generation.`,
      );
    }
    case 'no-proxies':
      return { status: 'Unknown', reason: 'NoProxies', message: 'No proxy is connected.' };
    case undefined:
      return pending('The newest generation is not published yet.');
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
  const text = proxy === undefined ? message : `Proxy ${proxy} rejects it: ${message}`;
  return { status: 'False', reason: 'Rejected', message: clip(text, MAX_LENGTH) };
}
