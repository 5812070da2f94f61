import { describe, expect, it } from '@jest/globals';

import { routeVerdict } from '../../../support/verdicts.ts';
import { conditionsOf, messageOf, statusOf } from './route-status-cases.ts';

describe('PartiallyInspected', () => {
  it('names the paths that no policy about tools covers, while there are any', () => {
    const verdict = { ...routeVerdict(), uninspectedPaths: ['/mcp/files', '/mcp/upload'] };
    const status = statusOf({ verdict });
    expect(conditionsOf(status)).toMatchObject({
      Accepted: ['True', 'Accepted'],
      PartiallyInspected: ['True', 'UninspectedSubPaths'],
    });
    expect(messageOf(status, 'PartiallyInspected')).toBe(
      'Requests to /mcp/files, /mcp/upload are not inspected: whoever the policy permits may send anything there, and criteria about MCP messages are false for it.',
    );
    expect(conditionsOf(statusOf({ current: status }))).not.toHaveProperty('PartiallyInspected');
  });
});
