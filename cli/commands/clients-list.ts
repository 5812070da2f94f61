import type { Arguments } from '../arguments.ts';
import { formatValue, readOutput } from '../cluster/output.ts';
import type { CommandStreams } from '../command.ts';
import { readStateFlags } from '../flags/state-flags.ts';
import { readUserFlags } from '../flags/user-flags.ts';
import { listClients } from '../sessions/client-rows.ts';
import { withOperatorState } from '../sessions/open-operator-state.ts';
import { clientsValue, clientTable } from '../sessions/render-clients.ts';
import { pageNotes } from '../sessions/render-sessions.ts';
import { LIST_FORMS, readLimit } from './sessions/sessions-flags.ts';

/** Runs `gatehouse clients list`. Resolves with 1 if there are records that the keys do not open. */
export async function runClientsList(
  flags: Arguments,
  { stdout, stderr }: CommandStreams,
): Promise<number> {
  const form = readOutput(flags, LIST_FORMS);
  const source = readStateFlags(flags);
  const query = { users: readUserFlags(flags), limit: readLimit(flags) };
  const page = await withOperatorState(source, (state) => listClients(state, query));
  const { rows, unreadable } = page;
  if (form !== undefined) stdout.write(await formatValue(clientsValue(page), form));
  else if (rows.length > 0) stdout.write(clientTable(rows, Date.now()));
  else stderr.write('No clients found.\n');
  stderr.write(pageNotes(page, 'raise --limit, or choose a user.'));
  return unreadable === 0 ? 0 : 1;
}
