/** Markup that is safe on a page. Only `html` makes it. */
export interface Html {
  readonly markup: string;
}

type Content = Html | string | number | undefined | readonly Html[];

/** Makes markup from a template: every value is escaped unless it is markup itself. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  const markup = parts.reduce((text, part, index) => text + render(values[index - 1]) + part);
  return { markup };
}

function render(value: Content): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return escape(value);
  if (typeof value === 'number') return String(value);
  if ('markup' in value) return value.markup;
  return value.map(({ markup }) => markup).join('');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
