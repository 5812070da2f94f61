import { matcherCriterion } from '../operands/matcher-criterion.ts';

/**
 * The tool that a message calls. False for every message but `tools/call`, `not_in` included
 * (specification: Evaluation rules, 1).
 */
export const mcpTool = matcherCriterion(
  {
    name: 'mcp_tool',
    reasons: { whenTrue: 'mcp-tool-ok', whenFalse: 'mcp-tool-unauthorized' },
    ofToolCall: true,
    reads: ['message', 'tool'],
    onlyOn: 'mcp',
    row: { looksAt: '`name` of a [`tools/call`](#tools)', compares: 'a text, exactly' },
  },
  { read: ({ toolName }) => toolName ?? null },
);
