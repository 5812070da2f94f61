import type { Arguments } from '../arguments.ts';
import type { CommandStreams } from '../command.ts';
import { readStateFlags } from '../flags/state-flags.ts';
import { namesPerson, readUserFlags, type UserChoice } from '../flags/user-flags.ts';
import { confirm } from '../sessions/confirm.ts';
import {
  endSession,
  endUser,
  findSession,
  findUsers,
  type FoundUser,
} from '../sessions/end-sessions.ts';
import { withOperatorState, type OperatorState } from '../sessions/open-operator-state.ts';
import { openOperatorAudit, type OperatorAudit } from '../sessions/operator.ts';
import { counted } from '../sessions/counted.ts';
import { UsageError } from '../usage-error.ts';
import { withoutControls } from '../without-controls.ts';

/** Something to end, and the question before. */
interface Plan {
  readonly question: string;
  readonly isEmpty: boolean;
  /** Whether something may be left. */
  readonly isIncomplete: boolean;
  readonly end: (audit: OperatorAudit) => Promise<void>;
}

/** Runs `gatehouse sessions revoke`. Resolves with 1 if there was nothing to end, or something may be left. */
export async function runSessionsRevoke(
  flags: Arguments,
  streams: CommandStreams,
): Promise<number> {
  const users = readUserFlags(flags);
  const ids = [...new Set(flags.operands)];
  refuseUnclear(ids, users);
  return withOperatorState(readStateFlags(flags), async (state) => {
    const plan = await (ids.length > 0
      ? planForIds(ids, state, streams)
      : planForUsers(users, state, streams));
    if (plan.isEmpty) return 1;
    if (!(await confirm(plan.question, flags, streams))) {
      streams.stderr.write('Nothing was ended.\n');
      return 1;
    }
    const audit = openOperatorAudit(flags, streams);
    try {
      await plan.end(audit);
      streams.stdout.write('Ended.\n');
    } finally {
      streams.stderr.write(await audit.end());
    }
    return plan.isIncomplete ? 1 : 0;
  });
}

function refuseUnclear(ids: readonly string[], users: UserChoice): void {
  const hasUsers = Object.keys(users).length > 0;
  if (ids.length > 0 === hasUsers) throw new UsageError('give ids, or --email or --user');
  // A provider alone is everybody.
  if (hasUsers && !namesPerson(users)) throw new UsageError('--provider needs --email or --user');
}

async function planForIds(
  ids: readonly string[],
  state: OperatorState,
  { stderr }: CommandStreams,
): Promise<Plan> {
  const looked = await Promise.all(
    ids.map(async (id) => ({ id, found: await findSession(id, state) })),
  );
  const found = looked.flatMap(({ found }) => found ?? []);
  const missing = looked.filter((each) => each.found === undefined);
  stderr.write(missing.map(({ id }) => `There is no session ${withoutControls(id)}.\n`).join(''));
  const signIns = found.filter(({ kind }) => kind === 'sign-in').length;
  const what = [
    ...(signIns > 0 ? [`${counted(signIns, 'sign-in')} with what was approved in them`] : []),
    ...(found.length > signIns
      ? [counted(found.length - signIns, 'grant of a client', 'grants of clients')]
      : []),
  ];
  return {
    question: `This ends ${what.join(' and ')}.`,
    isEmpty: found.length === 0,
    isIncomplete: missing.length > 0,
    end: async (audit) => {
      for (const each of found) await endSession(each, state, audit);
    },
  };
}

async function planForUsers(
  choice: UserChoice,
  state: OperatorState,
  { stderr }: CommandStreams,
): Promise<Plan> {
  const { users, unreadable } = await findUsers(state, choice);
  if (unreadable > 0) {
    stderr.write(
      `${counted(unreadable, 'sign-in')} cannot be opened with these sealing keys, and may be of such a user.\n`,
    );
  }
  if (users.length === 0) stderr.write('Nobody who fits is signed in.\n');
  return {
    question: users.map(questionAbout).join('\n'),
    isEmpty: users.length === 0,
    isIncomplete: unreadable > 0,
    end: async (audit) => {
      for (const user of users) await endUser(user, state, audit);
    },
  };
}

function questionAbout({ identity, signInIds, grantCount }: FoundUser): string {
  const { provider, subject, email } = identity;
  const who = email === undefined ? subject : `${email} (${subject})`;
  const what = `${counted(signInIds.length, 'sign-in')} and ${counted(grantCount, 'grant of a client', 'grants of clients')}`;
  return withoutControls(`This ends everything of ${who} of ${provider}: ${what}.`);
}
