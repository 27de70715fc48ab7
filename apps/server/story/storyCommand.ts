import { plain } from '#core/cleanText.ts';
import { type Command, misused, notId } from '../platform/command.ts';
import { isUuid } from '../platform/database/isUuid.ts';
import { readStory } from './readStory.ts';

export const storyCommand: Command = {
  usage: 'story JOIN',
  summary: 'What happened to a join, step by step: when (UTC), what, and by whom.',
  async run([uuid, ...more], { deps }) {
    if (!isUuid(uuid) || more.length > 0) return misused(storyCommand, notId('join', uuid));
    const story = await readStory(deps, uuid);
    if (!story) {
      console.error(`There is no join ${uuid}.`);
      return 1;
    }
    for (const { at, text, by } of story)
      console.log(`${at.toISOString().slice(0, 19).replace('T', ' ')}  ${plain(text)}  ${plain(by)}`);
    return 0;
  },
};
