import type { Arguments } from '../arguments.ts';
import { formatValue, readOutput } from '../cluster/output.ts';
import type { CommandStreams } from '../command.ts';
import { readStateFlags } from '../flags/state-flags.ts';
import { readUserFlags } from '../flags/user-flags.ts';
import { listSessions } from '../sessions/list-sessions.ts';
import { withOperatorState } from '../sessions/open-operator-state.ts';
import { pageNotes, sessionsValue, sessionTable } from '../sessions/render-sessions.ts';
import { LIST_FORMS, readLimit } from './sessions/sessions-flags.ts';

/** Runs `gatehouse sessions list`. Resolves with 1 if there are records that the keys do not open. */
export async function runSessionsList(
  flags: Arguments,
  { stdout, stderr }: CommandStreams,
): Promise<number> {
  const form = readOutput(flags, LIST_FORMS);
  const source = readStateFlags(flags);
  const users = readUserFlags(flags);
  const query = { users, limit: readLimit(flags), after: flags.text('after'), now: Date.now() };
  const page = await withOperatorState(source, (state) => listSessions(state, query));
  const { rows, unreadable } = page;
  if (form !== undefined) stdout.write(await formatValue(sessionsValue(page), form));
  else if (rows.length > 0) stdout.write(sessionTable(rows, query.now));
  else stderr.write('No sessions found.\n');
  stderr.write(pageNotes(page, `--after ${rows.at(-1)?.id ?? ''} shows them.`));
  return unreadable === 0 ? 0 : 1;
}
