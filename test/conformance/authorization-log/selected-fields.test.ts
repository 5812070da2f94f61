import { describe, expect } from '@jest/globals';

import {
  FRAME,
  LIST,
  openAuthorizationLog,
  OTHER_FIELDS,
  POLICY,
  toolCall,
  withoutFrame,
} from '../../support/authorization-log-world.ts';
import { verifies } from '../../requirements/verifies.ts';

const world = openAuthorizationLog();

describe('The fields of the authorization log', () => {
  verifies(
    'log.fields-selected',
    'a record has all fields but those of MCP by default',
    async () => {
      await world().serve(POLICY);
      await world().call(toolCall('echo'));
      const applying = OTHER_FIELDS.filter((f) => f !== 'allow-why-false' && f !== 'deny-why-true');
      expect(Object.keys(world().record()).sort()).toEqual([...FRAME, ...applying].sort());
    },
  );

  verifies('log.fields-selected', 'a record has the fields that the settings name', async () => {
    for (const fields of [['user'], ['mcp-tool', 'allow'], ['mcp-method', 'email']] as const) {
      await world().serve(POLICY, fields);
      world().forgetRecords();
      await world().call(toolCall('echo'));
      expect(Object.keys(withoutFrame(world().record())).sort()).toEqual([...fields].sort());
    }
  });

  verifies(
    'log.fields-selected',
    'a change of the settings changes the fields of the next request',
    async () => {
      await world().serve(POLICY, ['user']);
      await world().call(LIST);
      await world().serve(POLICY, ['email']);
      await world().call(LIST);
      expect(world().records().map(withoutFrame)).toEqual([
        { user: 'alice' },
        { email: 'alice@example.com' },
      ]);
    },
  );
});
