import { foldAsciiCase } from '../operands/fold-ascii-case.ts';
import { matcherCriterion } from '../operands/matcher-criterion.ts';

/** The method of an MCP message. */
export const mcpMethod = matcherCriterion(
  {
    name: 'mcp_method',
    reasons: { whenTrue: 'mcp-method-ok', whenFalse: 'mcp-method-unauthorized' },
    reads: ['message'],
    onlyOn: 'mcp',
    row: {
      looksAt: '`method` of an MCP message, [notifications](#methods) included',
      compares: 'a text, exactly',
    },
  },
  {
    read: ({ mcpMethod: method }) => method ?? null,
    // Attack: `Admin/delete` for a server that ignores case, past a policy about `admin/`.
    looseFoldFor: () => foldAsciiCase,
  },
);
