import type { BrowserContext } from '@playwright/test';

/**
 * Changes every page as a browser's translation does. Replaces each text node by an element with the same text, first when the
 * page has loaded, then whenever a text is added or changes. React keeps its references to the replaced nodes. The words are not
 * changed, so that tests find them, except in options, whose words must not reach the server.
 */
export async function translatePages(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const replaceTexts = () => {
      const texts = document.createTreeWalker(
        document.body,
        NodeFilter.SHOW_TEXT,
        ({ parentElement, textContent }) =>
          textContent?.trim() && !parentElement!.closest('font, script, style, noscript, textarea, title')
            ? NodeFilter.FILTER_ACCEPT
            : NodeFilter.FILTER_REJECT,
      );
      const found: Text[] = [];
      while (texts.nextNode()) found.push(texts.currentNode as Text);
      for (const text of found) {
        const font = document.createElement('font');
        font.textContent = text.parentElement?.matches('option') ? `[${text.data}]` : text.data;
        text.replaceWith(font);
      }
    };
    // The browser translates a page once it has loaded.
    window.addEventListener('load', () => {
      replaceTexts();
      new MutationObserver(replaceTexts).observe(document.body, {
        childList: true,
        characterData: true,
        subtree: true,
      });
    });
  });
}
