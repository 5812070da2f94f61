import type { Arguments } from '../arguments.ts';
import type { CommandStreams } from '../command.ts';
import { readStateFlags } from '../flags/state-flags.ts';
import { namesPerson, readUserFlags } from '../flags/user-flags.ts';
import { confirm } from '../sessions/confirm.ts';
import { counted } from '../sessions/counted.ts';
import { endClients, findClients, type FoundClients } from '../sessions/end-clients.ts';
import { withOperatorState } from '../sessions/open-operator-state.ts';
import { openOperatorAudit } from '../sessions/operator.ts';
import { UsageError } from '../usage-error.ts';

/** Runs `gatehouse clients revoke`. Resolves with 1 if there was nothing to end, or something may be left. */
export async function runClientsRevoke(flags: Arguments, streams: CommandStreams): Promise<number> {
  const { stdout, stderr } = streams;
  const users = readUserFlags(flags);
  const hasUsers = Object.keys(users).length > 0;
  if (hasUsers && !namesPerson(users)) throw new UsageError('--provider needs --email or --user');
  return withOperatorState(readStateFlags(flags), async (state) => {
    const found = await findClients(flags.operands, state, users);
    const { grants, registrations, unreadable } = found;
    if (unreadable > 0) {
      stderr.write(
        `${counted(unreadable, 'record')} cannot be opened with these sealing keys, and may be of such a client.\n`,
      );
    }
    if (grants.length + registrations.length === 0) {
      stderr.write('There is no such client.\n');
      return 1;
    }
    if (!(await confirm(questionAbout(found), flags, streams))) {
      stderr.write('Nothing was ended.\n');
      return 1;
    }
    const audit = openOperatorAudit(flags, streams);
    try {
      await endClients(found, state, audit);
      stdout.write('Ended.\n');
    } finally {
      stderr.write(await audit.end());
    }
    return unreadable === 0 ? 0 : 1;
  });
}

function questionAbout({ grants, registrations }: FoundClients): string {
  const what = [
    counted(grants.length, 'grant'),
    ...(registrations.length > 0 ? [counted(registrations.length, 'registration')] : []),
  ];
  return `This ends ${what.join(' and ')}.`;
}
