/** A button of a form on a page, with everything that pressing it sends. */
export interface Button {
  readonly method: string;
  /** As written in the form; empty means the page's own URL. */
  readonly action: string;
  readonly fields: URLSearchParams;
  readonly isPrimary: boolean;
}

type Attributes = ReadonlyMap<string, string>;

/** Finds the buttons of a page. Knows just enough HTML for the pages of the gateway and the demo. */
export function findButtons(markup: string): readonly Button[] {
  return [...markup.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].flatMap(([, form, content]) =>
    buttonsOf(parseAttributes(form), content ?? ''),
  );
}

/** The title of a page; empty when it has none. */
export function findTitle(markup: string): string {
  return unescape(/<title>(.*?)<\/title>/s.exec(markup)?.[1]?.trim() ?? '');
}

function buttonsOf(form: Attributes, content: string): readonly Button[] {
  const hidden = [...content.matchAll(/<input\b([^>]*)>/g)].map(([, tag]) => parseAttributes(tag));
  return [...content.matchAll(/<button\b([^>]*)>/g)].map(([, tag]) => {
    const button = parseAttributes(tag);
    const fields = new URLSearchParams();
    for (const each of [...hidden, button]) {
      const name = each.get('name');
      if (name !== undefined) fields.append(name, each.get('value') ?? '');
    }
    return {
      method: form.get('method')?.toUpperCase() ?? 'GET',
      action: form.get('action') ?? '',
      fields,
      isPrimary: button.get('class')?.split(' ').includes('primary') ?? false,
    };
  });
}

function parseAttributes(tag = ''): Attributes {
  const pairs = tag.matchAll(/([\w-]+)\s*=\s*"([^"]*)"/g);
  return new Map([...pairs].map(([, name = '', value = '']) => [name, unescape(value)]));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

function unescape(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
