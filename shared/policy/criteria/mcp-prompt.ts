import { matcherCriterion } from '../operands/matcher-criterion.ts';

/** The prompt that a message gets, or completes an argument of. */
export const mcpPrompt = matcherCriterion(
  {
    name: 'mcp_prompt',
    reasons: { whenTrue: 'mcp-prompt-ok', whenFalse: 'mcp-prompt-unauthorized' },
    reads: ['message', 'prompt'],
    onlyOn: 'mcp',
    row: {
      looksAt: '`name` of a [`prompts/get`](#resources-and-prompts)',
      compares: 'a text, exactly',
    },
  },
  { read: ({ prompt }) => prompt ?? null },
);
